//! The skill index port: ranking by words.

use interlingua_model::ports::*;

fn skill(id: &str, title: &str, description: &str, keywords: &str) -> Indexed {
    Indexed { skill: id.into(), title: title.into(), description: description.into(), keywords: keywords.into() }
}

async fn with_skills(store: &Store) {
    let travel = vec![
        skill(
            "travel/search_flights",
            "Search flights",
            "Finds flights between two cities on a date.",
            "airplane trip",
        ),
        skill("travel/book_hotel", "Book a hotel", "Reserves a room in a city for some nights.", "lodging"),
    ];
    let files = vec![
        skill("files/read_file", "Read a file", "Returns the text of a file in the workspace.", "open cat"),
        skill("files/search_files", "Search files", "Finds files by name or content.", "grep find"),
    ];
    let spanish =
        vec![skill("es/clima", "Previsión del tiempo", "Dice el clima de las próximas horas en una ciudad.", "lluvia")];
    for (peer, skills) in [("travel", travel), ("files", files), ("es", spanish)] {
        store.index.replace(peer, skills).await.unwrap();
    }
}

async fn first(store: &Store, words: &str) -> Option<(String, f64)> {
    let hits = store.index.search(words, 5).await.unwrap();
    assert!(hits.iter().all(|hit| hit.score > 0.0 && hit.score <= 1.0), "{hits:?}");
    assert!(hits.is_sorted_by(|a, b| a.score >= b.score), "{hits:?}");
    hits.first().map(|hit| (hit.skill.to_string(), hit.score))
}

pub async fn skills_are_found_by_their_words(store: Store) {
    with_skills(&store).await;
    for (words, skill) in [
        ("find me a flight to Paris", "travel/search_flights"),
        ("search the files", "files/search_files"),
        ("what is in the file notes.txt? read it", "files/read_file"),
        ("I need a hotel room", "travel/book_hotel"),
        ("AIRPLANES", "travel/search_flights"),
    ] {
        assert_eq!(first(&store, words).await.unwrap().0, skill, "{words}");
    }
    assert_eq!(first(&store, "quantum chromodynamics").await, None);
    assert_eq!(first(&store, "what is the").await, None);
    assert_eq!(first(&store, "search flights").await.unwrap().1, 1.0);
    // A request that a skill knows only a part of does not look like a sure one.
    assert!(first(&store, "hotel airplane grep").await.unwrap().1 < 0.5);
}

pub async fn skills_are_found_in_spanish_without_accents(store: Store) {
    with_skills(&store).await;
    for words in ["¿Qué previsión hay para hoy?", "prevision", "el CLIMA en Bogotá", "lluvias", "ciudades con clima"]
    {
        assert_eq!(first(&store, words).await.unwrap().0, "es/clima", "{words}");
    }
}

pub async fn a_peer_s_skills_are_replaced(store: Store) {
    with_skills(&store).await;
    store.index.replace("files", vec![skill("files/delete", "Delete a file", "", "")]).await.unwrap();
    assert_eq!(first(&store, "grep").await, None);
    assert_eq!(first(&store, "file").await.unwrap().0, "files/delete");
    store.index.replace("files", Vec::new()).await.unwrap();
    assert_eq!(first(&store, "file").await, None);
    assert!(first(&store, "hotel").await.is_some());
}

pub async fn hostile_words_are_only_words(store: Store) {
    with_skills(&store).await;
    let long = "file ".repeat(100_000);
    for words in [
        "",
        "\"",
        "file\" OR \"",
        "NEAR(a b)",
        "title:file *",
        "file AND NOT hotel",
        "-file",
        "\0",
        &long,
        "'; DROP TABLE skills",
    ] {
        store.index.search(words, usize::MAX).await.unwrap();
    }
    assert_eq!(first(&store, "read file").await.unwrap().0, "files/read_file");
}

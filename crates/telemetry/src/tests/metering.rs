//! Metrics as a scraper reads them.

use std::collections::BTreeMap;
use std::time::Duration;

use interlingua_model::{CancelWhy, Fault, FaultKind, Outcome, Party};

use crate::meters::{Meters, Phase, WireMeters, failed, prometheus, recorder};

/// One of all that are spelt alike.
fn kinds() -> Vec<FaultKind> {
    let spelt: BTreeMap<&str, FaultKind> = FaultKind::all().map(|kind| (kind.as_str(), kind)).collect();
    spelt.into_values().collect()
}

#[test]
fn what_has_no_labels_is_there_from_the_start_and_the_rest_once_it_counts() {
    let recorder = recorder();
    let handle = recorder.handle();
    let meters = metrics::with_local_recorder(&recorder, Meters::register);
    let wire = metrics::with_local_recorder(&recorder, || meters.protocol("wire"));
    let text = meters.render(&handle);
    assert!(text.contains("\ninterlingua_calls_shed_total 0\n"), "{text}");
    assert!(!text.lines().any(|line| line.ends_with("} 0") && line.contains("_total{")), "{text}");
    assert!(!text.contains("_seconds_bucket{p"), "{text}");
    assert!(text.contains(&format!("interlingua_build_info{{version=\"{}\",", env!("CARGO_PKG_VERSION"))), "{text}");
    meters.config_reload_failures.increment(1);
    meters.in_flight.increment(2.0);
    meters.in_flight.decrement(1.0);
    meters.phase(Phase::Respond, Duration::from_millis(2));
    wire.ended(&Outcome::Completed, Duration::from_micros(20));
    wire.ended(&Outcome::Cancelled { by: Party::Caller, why: CancelWhy::Asked }, Duration::from_micros(20));
    let text = meters.render(&handle);
    for line in [
        "interlingua_config_reloads_total{result=\"failed\"} 1",
        "interlingua_exchanges_in_flight 1",
        "interlingua_phase_seconds_count{phase=\"respond\"} 1",
        "interlingua_exchanges_total{protocol=\"wire\",outcome=\"completed\"} 1",
        "interlingua_exchanges_total{protocol=\"wire\",outcome=\"cancelled\"} 1",
        "interlingua_exchange_seconds_bucket{protocol=\"wire\",le=\"0.00005\"} 2",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn every_kind_of_fault_is_counted_under_its_own_spelling() {
    let recorder = recorder();
    let handle = recorder.handle();
    let wire = metrics::with_local_recorder(&recorder, || WireMeters::register("wire"));
    let mut places: Vec<usize> = kinds().into_iter().map(failed).collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), kinds().len(), "each has a place of its own");
    for kind in kinds() {
        wire.ended(&Outcome::Failed(Fault::hub(kind, "x")), Duration::ZERO);
        wire.refused(kind, Duration::ZERO);
        let line = format!("interlingua_exchanges_total{{protocol=\"wire\",outcome=\"{}\"}} 2", kind.as_str());
        assert!(handle.render().contains(&line), "{line}");
    }
}

#[test]
fn phases_are_in_the_order_of_their_handles() {
    for (index, phase) in Phase::ALL.into_iter().enumerate() {
        assert_eq!(phase as usize, index);
    }
}

#[test]
fn the_recorder_of_the_process_is_made_once() {
    let (first, second) = (prometheus(), prometheus());
    metrics::counter!("interlingua_test_total").increment(1);
    assert!(first.render().contains("interlingua_test_total 1"));
    assert_eq!(first.render(), second.render());
}

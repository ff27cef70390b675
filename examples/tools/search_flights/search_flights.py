"""Flights from a timetable that never changes: the same question always has the same answer.

Reads one JSON object from standard input; each line of standard output is one JSON object.
"""

import datetime
import json
import sys
import zlib

CITIES = {
    "new york": "NYC", "nyc": "NYC", "jfk": "NYC", "paris": "PAR", "cdg": "PAR", "london": "LON", "londres": "LON",
    "lhr": "LON", "madrid": "MAD", "barcelona": "BCN", "tokyo": "TYO", "tokio": "TYO", "san francisco": "SFO",
}

# Known routes; any other is made up from its name.
TIMETABLE = {
    ("NYC", "PAR"): [("Air France", 650, "10:00"), ("United", 720, "14:30")],
    ("MAD", "LON"): [("Iberia", 120, "08:15"), ("British Airways", 145, "17:40")],
}
AIRLINES = ["Air Europa", "Delta", "KLM", "Lufthansa", "Qantas"]


def say(**line):
    print(json.dumps(line), flush=True)


def fail(words):
    say(error=words)
    sys.exit(1)


def code(city):
    return CITIES.get(city.strip().lower(), city.strip().upper())


def made_up(origin, destination):
    seed = zlib.crc32(f"{origin}>{destination}".encode())
    flights = []
    for step in range(2):
        number = seed >> (8 * step)
        airline = AIRLINES[number % len(AIRLINES)]
        flights.append((airline, 80 + number % 900, f"{6 + number % 16:02}:{number % 4 * 15:02}"))
    return flights


def main():
    call = json.load(sys.stdin)
    try:
        date = datetime.date.fromisoformat(call["date"])
    except ValueError:
        fail("the date must be written YYYY-MM-DD")
    passengers = call.get("passengers", 1)
    if passengers < 1 or passengers != int(passengers):
        fail("the number of passengers must be a whole number from 1")
    origin, destination = code(call["origin"]), code(call["destination"])
    if origin == destination:
        fail("origin and destination are the same")

    say(progress={"done": 0, "total": 1, "note": f"looking for {origin} to {destination}"})
    found = TIMETABLE.get((origin, destination)) or made_up(origin, destination)
    flights = [
        {
            "airline": airline,
            "price": price,
            "total": price * int(passengers),
            "departure": departure,
            "date": date.isoformat(),
            "origin": origin,
            "destination": destination,
        }
        for airline, price, departure in found
    ]
    text = "\n".join(f"{f['airline']} at {f['departure']}, {f['price']} each" for f in flights)
    say(result=flights, text=text)


main()

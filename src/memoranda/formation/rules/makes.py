"""Makes of vehicles, for every language: "my Honda", "mein Opel Zafira"."""

from __future__ import annotations

from typing import Final

_MAKES = (
    "Alfa Romeo|Audi|BMW|Citro[eë]n|Cupra|Dacia|Ducati|Fiat|Ford|Harley(?:-Davidson)?|Honda|Hyundai|Jaguar|Jeep|Kawasaki|Kia|Lada|Lancia|Land Rover|Lexus|Mazda|Mercedes(?:-Benz)?|Mini Cooper|Mitsubishi|Nissan|"
    "Opel|Peugeot|Piaggio|Porsche|Renault|Saab|Seat|Skoda|Škoda|Subaru|Suzuki|Tesla|Toyota|Trabant|Triumph|Vauxhall|Vespa|Volkswagen|Volvo|VW|Yamaha|Chevrolet|Chevy|Dodge|Buick|Cadillac|Chrysler|Subaru|Rover|Smart|Polestar|Brompton|Ram|GMC"
)
#: A make, with a model and its year.
VEHICLE_NAME: Final = rf"(?:(?:19|20)\d\d )?(?-i:(?:{_MAKES})\b)(?: (?-i:[A-Z0-9])[\w-]*){{0,2}}(?:,? (?:from|von|del?|de|Baujahr|Bj\.?) (?:19|20)?\d\d)?"

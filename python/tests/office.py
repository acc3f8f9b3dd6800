"""Tools of an office, for the tests of the adaptors."""

from __future__ import annotations

from collections.abc import Callable

CALLED: list[str] = []
"""Cities that get_weather was called with."""

_OTHERS = """
send_email: Send an email to a person
create_event: Create an event in the calendar
list_events: List the events of a day
book_room: Reserve a meeting room
translate_text: Translate a text into another language
convert_currency: Convert an amount of money into another currency
get_stock_price: Read the price of a share
create_invoice: Write an invoice for a customer
list_invoices: List the invoices that are not paid
search_files: Search the files of the team
delete_file: Delete a file for good
create_ticket: Open a ticket for a bug
close_ticket: Close a ticket
start_timer: Start a timer
play_music: Play a song
order_taxi: Order a taxi to an address
track_parcel: Show where a parcel is
resize_image: Change the size of an image
run_query: Run an SQL query
deploy_service: Deploy a service to production
"""


def get_weather(city: str) -> str:
    """Forecast of the weather in a city."""
    CALLED.append(city)
    return f"Rain in {city}"


def _make(name: str, description: str) -> Callable[[str], str]:
    def tool(text: str) -> str:
        return f"{name} done"

    tool.__name__, tool.__doc__ = name, description
    return tool


FUNCTIONS: list[Callable[[str], str]] = [
    get_weather,
    *(_make(*line.split(": ")) for line in _OTHERS.strip().splitlines()),
]
REQUEST = "will it rain in Oslo tomorrow?"

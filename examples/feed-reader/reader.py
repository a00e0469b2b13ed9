"""Reads the feed of a Quittance service and marks the orders of a shop as paid.

    BILLING_READ_TOKEN=... python3 reader.py [--since 2026-11-20T00:00:00Z]

It can be killed at any time: what it does for the events of a page, and the cursor behind them, are
committed together. Python's standard library is all that it needs.
"""

import http.client
import json
import os
import sqlite3
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

SERVICE = os.environ.get("QUITTANCE_URL", "http://localhost:3000")
TOKEN = os.environ["BILLING_READ_TOKEN"]
WAIT_SECONDS = 30


def open_shop():
    """Stands for the database of your shop."""
    shop = sqlite3.connect(os.environ.get("SHOP_DATABASE", "shop.db"))
    shop.executescript("""
        create table if not exists orders (id text primary key, paid integer not null default 0);
        create table if not exists history (position integer, event text, order_id text, status text);
        create table if not exists reader (cursor text not null, last_event_at text);
    """)
    return shop


def take(shop, event):
    """What one event means for the shop. Runs within the transaction that stores the cursor."""
    payment = event["data"].get("payment")
    # A refund is a payment, too.
    if payment is None or payment["type"] != "charge" or payment["payable"]["type"] != "order":
        return
    order, status = payment["payable"]["id"], payment["status"]
    shop.execute(
        "insert into history values (?, ?, ?, ?)", (event["position"], event["type"], order, status)
    )
    # By how the payment stands now, not by the event's name: one that was declined and then paid
    # still has its PaymentFailed, and that takes nothing back.
    if status == "paid":
        shop.execute("update orders set paid = 1 where id = ?", (order,))


def store(shop, page):
    """All of the page and its cursor, or nothing of it."""
    with shop:
        for event in page["data"]:
            take(shop, event)
        times = [event["timestamp"] for event in page["data"]]
        if shop.execute("select 1 from reader").fetchone() is None:
            shop.execute("insert into reader values (?, null)", (page["next_cursor"],))
        shop.execute(
            "update reader set cursor = ?, last_event_at = coalesce(?, last_event_at)",
            (page["next_cursor"], times[-1] if times else None),
        )


def ask(start):
    """The next page, as soon as there is an event for it."""
    query = urllib.parse.urlencode({"order": "asc", "wait": WAIT_SECONDS, **start})
    request = urllib.request.Request(
        f"{SERVICE}/billing/api/events?{query}", headers={"authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.urlopen(request, timeout=WAIT_SECONDS + 15) as answer:
        return json.load(answer)


def follow(shop, since):
    while True:
        row = shop.execute("select cursor, last_event_at from reader").fetchone()
        start = {"since": since} if since else {"after": row[0] if row else "start"}
        try:
            store(shop, ask(start))
            since = None
        except urllib.error.HTTPError as refused:
            if refused.code == 410:
                last = row[1] if row else None
                sys.exit(f"cursor_unknown: was the service's database restored? Last event: {last}. "
                         "Start with --since and a time some hours before it.")
            if refused.code < 500 and refused.code != 429:
                sys.exit(f"{refused.code}: {refused.read().decode()}")
            pause = refused.headers.get("retry-after", "")
            time.sleep(int(pause) if pause.isdigit() else 1)
        except (OSError, http.client.HTTPException, ValueError) as failure:
            print(f"no answer: {failure}", file=sys.stderr)
            time.sleep(1)


if __name__ == "__main__":
    try:
        follow(open_shop(), sys.argv[2] if sys.argv[1:2] == ["--since"] else None)
    except KeyboardInterrupt:
        pass

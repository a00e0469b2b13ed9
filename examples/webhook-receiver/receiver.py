"""Takes the webhooks of a Quittance service and marks the orders of a shop as paid.

    WEBHOOK_SECRET=whsec_... python3 receiver.py

It can be killed at any time: the id of an event and what it means for the shop are committed together,
and only then the answer is 2xx. Python's standard library is all that it needs.
"""

import base64
import contextlib
import hmac
import http.server
import json
import os
import re
import sqlite3
import sys
import time
import urllib.request

PORT = int(os.environ.get("PORT", "8000"))
SERVICE = os.environ.get("QUITTANCE_URL", "http://localhost:3000")
READ_TOKEN = os.environ.get("BILLING_READ_TOKEN", "")
TOLERANCE_SECONDS = 5 * 60
MOST_BYTES = 1024 * 1024


def read_keys():
    """The keys of WEBHOOK_SECRET; two while a secret is exchanged. With an empty one anybody could sign."""
    keys = []
    for secret in os.environ.get("WEBHOOK_SECRET", "").split():
        encoded = secret.removeprefix("whsec_").rstrip("=")
        try:
            key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        except ValueError:
            key = b""
        if not secret.startswith("whsec_") or len(key) < 24:
            sys.exit("WEBHOOK_SECRET must be whsec_ and base64; several with a space between")
        keys.append(key)
    return keys or sys.exit("WEBHOOK_SECRET is not set")


def refusal(keys, headers, body):
    """Why a request is refused: status and text; None: our service has signed it."""
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    event_id, timestamp, signatures = (headers.get(name, "") for name in names)
    if not (event_id and timestamp and signatures):
        return 400, "webhook-id, webhook-timestamp or webhook-signature is missing"
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        return 400, "webhook-timestamp is no number of seconds"
    if abs(int(time.time()) - int(timestamp)) > TOLERANCE_SECONDS:
        return 401, "webhook-timestamp is more than 5 minutes off"
    signed = f"{event_id}.{timestamp}.".encode() + body
    for key in keys:
        wanted = b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256"))
        # As bytes, in constant time.
        if any(hmac.compare_digest(wanted, one.encode()) for one in signatures.split()):
            return None
    return 401, "no signature of webhook-signature is right: is it this endpoint's secret?"


def open_shop():
    """Stands for the database of your shop."""
    return sqlite3.connect(os.environ.get("SHOP_DATABASE", "shop.db"), timeout=10)


def make_shop():
    """Its tables, and an order that waits for its payment."""
    with contextlib.closing(open_shop()) as shop:
        shop.executescript("""
            create table if not exists orders (id text primary key, paid integer not null default 0);
            create table if not exists history (webhook_id text, event text, order_id text, status text);
            create table if not exists received (webhook_id text primary key);
            insert or ignore into orders (id) values ('42');
        """)


def payment_of(event):
    """The payment that an event is about, or None. A thin event has its id alone: ask for the rest."""
    payment = event["data"].get("payment")
    if payment is None or "status" in payment:
        return payment
    request = urllib.request.Request(
        f"{SERVICE}/billing/api/payments/{payment['id']}",
        headers={"authorization": f"Bearer {READ_TOKEN}"},
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        return json.load(answer)


def take(shop, event_id, event, payment):
    """What one event means for the shop, in words. Runs within the transaction that stores its id."""
    # A refund is a payment, too.
    if payment is None or payment["type"] != "charge" or payment["payable"]["type"] != "order":
        return f"{event['type']} is about no order"
    order, status = payment["payable"]["id"], payment["status"]
    shop.execute("insert into history values (?, ?, ?, ?)", (event_id, event["type"], order, status))
    # By how the payment stands now, not by the event's name: one that was declined and then paid
    # still has its PaymentFailed, and that takes nothing back.
    if status == "paid":
        shop.execute("update orders set paid = 1 where id = ?", (order,))
    return f"order {order} is {status}"


def store(shop, event_id, event):
    """The event's id and all that it means, or nothing of it. False: it came before."""
    payment = payment_of(event)
    with shop:
        if shop.execute("insert or ignore into received values (?)", (event_id,)).rowcount == 0:
            return False
        done = take(shop, event_id, event, payment)
    print(done, flush=True)
    return True


def answer(keys, headers, body):
    """Status and text. Whatever is not 2xx is sent again."""
    refused = refusal(keys, headers, body)
    if refused:
        return refused
    with contextlib.closing(open_shop()) as shop:
        new = store(shop, headers["webhook-id"], json.loads(body))
    return 200, "stored" if new else "stored before"


class Receiver(http.server.BaseHTTPRequestHandler):
    # For a client that sends nothing.
    timeout = 30

    def do_POST(self):
        length = self.headers.get("content-length", "")
        try:
            if not re.fullmatch("[0-9]{1,9}", length) or int(length) > MOST_BYTES:
                status, text = 413, "content-length is missing, or more than 1 MiB"
            else:
                status, text = answer(self.server.keys, self.headers, self.rfile.read(int(length)))
        except Exception as failure:
            print(f"{type(failure).__name__}: {failure}", file=sys.stderr)
            status, text = 500, "not stored: the log says why"
        self.send_response(status)
        self.send_header("content-type", "text/plain")
        self.end_headers()
        self.wfile.write(f"{text}\n".encode())


if __name__ == "__main__":
    keys = read_keys()
    make_shop()
    with http.server.ThreadingHTTPServer(("127.0.0.1", PORT), Receiver) as server:
        server.keys = keys
        print(f"listening on http://127.0.0.1:{PORT}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            pass

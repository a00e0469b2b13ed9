<?php
// Reads the feed of a Quittance service and marks the orders of a shop as paid.
//
//     BILLING_READ_TOKEN=... php reader.php [--since 2026-11-20T00:00:00Z]
//
// It can be killed at any time: what it does for the events of a page, and the cursor behind them, are
// committed together. It needs PHP 8.1 and pdo_sqlite.
declare(strict_types=1);

const WAIT_SECONDS = 30;

/** Stands for the database of your shop. */
function openShop(): PDO
{
    $shop = new PDO('sqlite:' . (getenv('SHOP_DATABASE') ?: 'shop.db'));
    $shop->exec('create table if not exists orders (id text primary key, paid integer not null default 0)');
    $shop->exec('create table if not exists history (position integer, event text, order_id text, status text)');
    $shop->exec('create table if not exists reader (cursor text not null, last_event_at text)');
    return $shop;
}

/** What one event means for the shop. Runs within the transaction that stores the cursor. */
function take(PDO $shop, array $event): void
{
    $payment = $event['data']['payment'] ?? null;
    // A refund is a payment, too.
    if ($payment === null || $payment['type'] !== 'charge' || $payment['payable']['type'] !== 'order') {
        return;
    }
    ['payable' => ['id' => $order], 'status' => $status] = $payment;
    $shop->prepare('insert into history values (?, ?, ?, ?)')
        ->execute([$event['position'], $event['type'], $order, $status]);
    // By how the payment stands now, not by the event's name: one that was declined and then paid
    // still has its PaymentFailed, and that takes nothing back.
    if ($status === 'paid') {
        $shop->prepare('update orders set paid = 1 where id = ?')->execute([$order]);
    }
}

/** All of the page and its cursor, or nothing of it. */
function store(PDO $shop, array $page): void
{
    $shop->beginTransaction();
    foreach ($page['data'] as $event) {
        take($shop, $event);
    }
    if ($shop->query('select 1 from reader')->fetch() === false) {
        $shop->prepare('insert into reader values (?, null)')->execute([$page['next_cursor']]);
    }
    $last = $page['data'][array_key_last($page['data']) ?? 0]['timestamp'] ?? null;
    $shop->prepare('update reader set cursor = ?, last_event_at = coalesce(?, last_event_at)')
        ->execute([$page['next_cursor'], $last]);
    $shop->commit();
}

/** The next page, as soon as there is an event for it: status, body, and how long to pause if it is none. */
function ask(array $start): array
{
    $query = http_build_query(['order' => 'asc', 'wait' => WAIT_SECONDS] + $start);
    $service = getenv('QUITTANCE_URL') ?: 'http://localhost:3000';
    $context = stream_context_create(['http' => [
        'header' => 'authorization: Bearer ' . getenv('BILLING_READ_TOKEN'),
        'timeout' => WAIT_SECONDS + 15,
        'ignore_errors' => true,
    ]]);
    $answer = @fopen("$service/billing/api/events?$query", 'r', false, $context);
    if ($answer === false) {
        return [0, '', 1];
    }
    $head = implode("\n", stream_get_meta_data($answer)['wrapper_data']);
    $status = preg_match('~^HTTP/\S+ (\d{3})~', $head, $found) === 1 ? (int) $found[1] : 0;
    $pause = preg_match('~^retry-after: (\d+)~im', $head, $found) === 1 ? (int) $found[1] : 1;
    return [$status, (string) stream_get_contents($answer), $pause];
}

$shop = openShop();
$since = ($argv[1] ?? '') === '--since' ? $argv[2] : null;
while (true) {
    $row = $shop->query('select cursor, last_event_at from reader')->fetch() ?: null;
    [$status, $body, $pause] = ask($since === null ? ['after' => $row['cursor'] ?? 'start'] : ['since' => $since]);
    // An answer that was cut is no answer.
    $page = $status === 200 ? json_decode($body, true) : null;
    if ($page !== null) {
        store($shop, $page);
        $since = null;
    } elseif ($status === 410) {
        $last = $row['last_event_at'] ?? 'none';
        fwrite(STDERR, "cursor_unknown: was the service's database restored? Last event: $last. "
            . "Start with --since and a time some hours before it.\n");
        exit(1);
    } elseif ($status >= 400 && $status < 500 && $status !== 429) {
        fwrite(STDERR, "$status: $body\n");
        exit(1);
    } else {
        if ($status === 0) {
            fwrite(STDERR, "no answer\n");
        }
        sleep($pause);
    }
}

<?php
// Takes the webhooks of a Quittance service and marks the orders of a shop as paid.
//
//     php receiver.php
//     WEBHOOK_SECRET=whsec_... php -S 127.0.0.1:8000 receiver.php
//
// The first line makes the tables of the shop, the second takes webhooks.
//
// It can be killed at any time: the id of an event and what it means for the shop are committed
// together, and only then the answer is 2xx. It needs PHP 8.1 and pdo_sqlite.
declare(strict_types=1);

const TOLERANCE_SECONDS = 5 * 60;

/** The keys of WEBHOOK_SECRET; two while a secret is exchanged. With an empty one anybody could sign. */
function readKeys(): array
{
    $keys = [];
    foreach (preg_split('/\s+/', (string) getenv('WEBHOOK_SECRET'), -1, PREG_SPLIT_NO_EMPTY) as $secret) {
        $key = str_starts_with($secret, 'whsec_') ? base64_decode(substr($secret, 6), true) : false;
        if ($key === false || strlen($key) < 24) {
            throw new Exception('WEBHOOK_SECRET must be whsec_ and base64; several with a space between');
        }
        $keys[] = $key;
    }
    return $keys ?: throw new Exception('WEBHOOK_SECRET is not set');
}

/** Why a request is refused: status and text; null: our service has signed it. */
function refusal(array $keys, string $body): ?array
{
    $header = fn (string $name): string => $_SERVER["HTTP_WEBHOOK_$name"] ?? '';
    [$id, $timestamp, $signatures] = array_map($header, ['ID', 'TIMESTAMP', 'SIGNATURE']);
    if ($id === '' || $timestamp === '' || $signatures === '') {
        return [400, 'webhook-id, webhook-timestamp or webhook-signature is missing'];
    }
    if (preg_match('/^\d{1,12}$/D', $timestamp) !== 1) {
        return [400, 'webhook-timestamp is no number of seconds'];
    }
    if (abs(time() - (int) $timestamp) > TOLERANCE_SECONDS) {
        return [401, 'webhook-timestamp is more than 5 minutes off'];
    }
    foreach ($keys as $key) {
        $wanted = 'v1,' . base64_encode(hash_hmac('sha256', "$id.$timestamp.$body", $key, true));
        foreach (explode(' ', $signatures) as $one) {
            // In constant time.
            if (hash_equals($wanted, $one)) {
                return null;
            }
        }
    }
    return [401, "no signature of webhook-signature is right: is it this endpoint's secret?"];
}

/** Stands for the database of your shop. */
function openShop(): PDO
{
    return new PDO('sqlite:' . (getenv('SHOP_DATABASE') ?: 'shop.db'), options: [PDO::ATTR_TIMEOUT => 10]);
}

/** Its tables, and an order that waits for its payment. */
function makeShop(): void
{
    openShop()->exec("
        create table if not exists orders (id text primary key, paid integer not null default 0);
        create table if not exists history (webhook_id text, event text, order_id text, status text);
        create table if not exists received (webhook_id text primary key);
        insert or ignore into orders (id) values ('42');
    ");
}

/** The payment that an event is about, or null. A thin event has its id alone: ask for the rest. */
function paymentOf(array $event): ?array
{
    $payment = $event['data']['payment'] ?? null;
    if ($payment === null || isset($payment['status'])) {
        return $payment;
    }
    $service = getenv('QUITTANCE_URL') ?: 'http://localhost:3000';
    $context = stream_context_create(['http' => [
        'header' => 'authorization: Bearer ' . getenv('BILLING_READ_TOKEN'),
        'timeout' => 5,
    ]]);
    $answer = @file_get_contents("$service/billing/api/payments/{$payment['id']}", false, $context);
    if ($answer === false) {
        throw new Exception('payment not read: ' . (error_get_last()['message'] ?? 'no answer'));
    }
    return json_decode($answer, true, flags: JSON_THROW_ON_ERROR);
}

/** What one event means for the shop, in words. Runs within the transaction that stores its id. */
function take(PDO $shop, string $id, array $event, ?array $payment): string
{
    // A refund is a payment, too.
    if ($payment === null || $payment['type'] !== 'charge' || $payment['payable']['type'] !== 'order') {
        return "{$event['type']} is about no order";
    }
    ['payable' => ['id' => $order], 'status' => $status] = $payment;
    $shop->prepare('insert into history values (?, ?, ?, ?)')->execute([$id, $event['type'], $order, $status]);
    // By how the payment stands now, not by the event's name: one that was declined and then paid
    // still has its PaymentFailed, and that takes nothing back.
    if ($status === 'paid') {
        $shop->prepare('update orders set paid = 1 where id = ?')->execute([$order]);
    }
    return "order $order is $status";
}

/** The event's id and all that it means, or nothing of it. False: it came before. */
function store(PDO $shop, string $id, array $event): bool
{
    $payment = paymentOf($event);
    $shop->beginTransaction();
    $insert = $shop->prepare('insert or ignore into received values (?)');
    $insert->execute([$id]);
    if ($insert->rowCount() === 0) {
        $shop->rollBack();
        return false;
    }
    $done = take($shop, $id, $event, $payment);
    $shop->commit();
    error_log($done);
    return true;
}

/** Status and text. Whatever is not 2xx is sent again. */
function answer(string $body): array
{
    $refused = refusal(readKeys(), $body);
    if ($refused !== null) {
        return $refused;
    }
    $event = json_decode($body, true, flags: JSON_THROW_ON_ERROR);
    return [200, store(openShop(), $_SERVER['HTTP_WEBHOOK_ID'], $event) ? 'stored' : 'stored before'];
}

if (PHP_SAPI === 'cli') {
    makeShop();
    exit("the shop is ready\n");
}

// Where a script dies PHP may answer 200 with the error: then nobody would send the event again.
http_response_code(500);
ini_set('display_errors', '0');
header('content-type: text/plain');
if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
    [$status, $text] = [405, 'POST alone'];
} else {
    try {
        [$status, $text] = answer((string) file_get_contents('php://input'));
    } catch (Throwable $failure) {
        error_log($failure->getMessage());
        [$status, $text] = [500, 'not stored: the log says why'];
    }
}
http_response_code($status);
echo "$text\n";

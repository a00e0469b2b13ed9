import assert from 'node:assert/strict'
import { type LookupFunction, type Socket } from 'node:net'
import { test } from 'node:test'
import { RequestFilteringHttpAgent } from 'request-filtering-agent'
import { allowFault, allowedPlaces, isPublicAddress } from './address.ts'

/**
 * One address in each block of IANA's special-purpose registries, and its ends where that is another
 * question. Source: https://www.iana.org/assignments/iana-ipv4-special-registry and
 * https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const special: Readonly<Record<string, readonly string[]>> = {
  '0.0.0.0/8': ['0.0.0.0', '0.1.2.3', '0.255.255.255'],
  '10.0.0.0/8': ['10.0.0.0', '10.255.255.255'],
  '100.64.0.0/10': ['100.64.0.0', '100.127.255.255'],
  '127.0.0.0/8': ['127.0.0.1', '127.255.255.255'],
  '169.254.0.0/16': ['169.254.0.1', '169.254.169.254', '169.254.170.2'],
  '172.16.0.0/12': ['172.16.0.0', '172.31.255.255'],
  '192.0.0.0/24': ['192.0.0.0', '192.0.0.8', '192.0.0.9', '192.0.0.10', '192.0.0.170'],
  '192.0.2.0/24': ['192.0.2.1'],
  '192.31.196.0/24': ['192.31.196.1'],
  '192.52.193.0/24': ['192.52.193.1'],
  '192.88.99.0/24': ['192.88.99.1'],
  '192.168.0.0/16': ['192.168.0.0', '192.168.255.255'],
  '192.175.48.0/24': ['192.175.48.1'],
  '198.18.0.0/15': ['198.18.0.0', '198.19.255.255'],
  '198.51.100.0/24': ['198.51.100.1'],
  '203.0.113.0/24': ['203.0.113.1'],
  '224.0.0.0/4': ['224.0.0.1', '239.255.255.255'],
  '240.0.0.0/4': ['240.0.0.0', '255.255.255.254'],
  '255.255.255.255/32': ['255.255.255.255'],
  '::/128': ['::', '0:0:0:0:0:0:0:0'],
  '::1/128': ['::1', '0:0:0:0:0:0:0:1'],
  '::ffff:0:0/96': ['::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:10.0.0.1', '::ffff:a9fe:a9fe'],
  '::ffff:0:0:0/96': ['::ffff:0:127.0.0.1', '::ffff:0:8.8.8.8'],
  '64:ff9b::/96': ['64:ff9b::', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8'],
  '64:ff9b:1::/48': ['64:ff9b:1::1', '64:ff9b:1:ffff::a9fe:a9fe'],
  '100::/64': ['100::1'],
  '2001::/23': ['2001:1ff::1'],
  '2001::/32': ['2001::1', '2001:0:7f00:1::'],
  '2001:1::/32': ['2001:1::1', '2001:1::2', '2001:1::3'],
  '2001:2::/48': ['2001:2::1'],
  '2001:3::/32': ['2001:3::1'],
  '2001:4:112::/48': ['2001:4:112::1'],
  '2001:10::/28': ['2001:10::1'],
  '2001:20::/28': ['2001:20::1'],
  '2001:30::/28': ['2001:30::1'],
  '2001:db8::/32': ['2001:db8::1'],
  '2002::/16': ['2002:7f00:1::', '2002:808:808::'],
  '2620:4f:8000::/48': ['2620:4f:8000::1'],
  '3fff::/20': ['3fff::1', '3fff:fff::1'],
  '5f00::/16': ['5f00::1'],
  'fc00::/7': ['fc00::1', 'fd00:ec2::254', 'fdff::1'],
  'fe80::/10': ['fe80::1', 'febf::1', 'fe80::1%eth0'],
  'fec0::/10': ['fec0::1'],
  'ff00::/8': ['ff02::1', 'ff0e::1'],
}

/** Refused by us alone. */
const gaps: Readonly<Record<string, readonly string[]>> = {
  // `unicast` to ipaddr.js, which the oracle asks: https://github.com/whitequark/ipaddr.js/issues/203
  'IPv4 compatible': ['::7f00:1', '::a9fe:a9fe', '::808:808'],
  'given out by nobody': ['4000::1', '8000::1', '1000::1'],
  '100:0:0:1::/64': ['100:0:0:1::1'],
  'the host of Azure': ['168.63.129.16'],
  'of one network': ['2606:4700:4700::1111%1'],
}

const publicOnes = [
  ['1.1.1.1', '8.8.8.8', '9.255.255.255', '11.0.0.0', '100.63.255.255', '100.128.0.0'],
  ['126.255.255.255', '128.0.0.1', '169.253.255.255', '172.15.255.255', '172.32.0.0'],
  ['168.63.129.15', '168.63.129.17', '192.0.1.1', '192.167.255.255', '192.169.0.0'],
  ['198.17.255.255', '198.20.0.0', '223.255.255.255', '::ffff:8.8.8.8'],
  ['2001:4860:4860::8888', '2606:4700:4700::1111', '2a00:1450:4001::1', '2400:cb00::1'],
].flat()

/** What the oracle says where a socket would open; nothing is sent. */
async function oracleAllows(address: string): Promise<boolean> {
  const agent = new RequestFilteringHttpAgent()
  const family = address.includes(':') ? 6 : 4
  const lookup: LookupFunction = (_host, _options, callback) => {
    process.nextTick(() => callback(null, address, family))
  }
  const options = { host: 'receiver.example', port: 9, lookup, autoSelectFamily: false }
  const socket = agent.createConnection(options)
  return new Promise((resolve) => {
    const opened = socket as Socket
    opened.on('error', () => {})
    opened.once('lookup', (error: Error | null) => {
      resolve(error === null)
      opened.destroy()
    })
  })
}

test('no address of a special range is public, and the oracle agrees (19)', async () => {
  for (const [block, addresses] of Object.entries(special)) {
    for (const address of addresses) {
      assert.equal(isPublicAddress(address), false, `${address} of ${block}`)
      assert.equal(await oracleAllows(address), false, `the oracle on ${address} of ${block}`)
    }
  }
})

test('what the oracle is known to let through is refused (19)', async () => {
  for (const [gap, addresses] of Object.entries(gaps)) {
    for (const address of addresses) {
      assert.equal(isPublicAddress(address), false, `${address}: ${gap}`)
      assert.equal(await oracleAllows(address), true, `the oracle on ${address}: ${gap}`)
    }
  }
})

test('public addresses pass, up to the edges of the ranges, with us and with the oracle (19)', async () => {
  for (const address of publicOnes) {
    assert.equal(isPublicAddress(address), true, address)
    const isMapped = address.startsWith('::ffff:')
    assert.equal(await oracleAllows(address), !isMapped, `the oracle on ${address}`)
  }
})

test('other spellings of an address are none, whatever they would lead to (19)', () => {
  const spellings = ['0x7f.1', '0177.0.0.1', '127.1', '2130706433', '0x8080808', '010.0.0.1']
  const others = [
    '::8.8.8.8',
    '::127.0.0.1',
    '3134744848',
    '8.8.8',
    '8.8.8.8.',
    '[2606:4700::1]',
    ' 8.8.8.8',
    '8.8.8.8/32',
    '',
  ]
  for (const text of [...spellings, ...others]) assert.equal(isPublicAddress(text), false, text)
})

test('what is allowed besides: hosts by name, addresses however they are written, ranges', () => {
  const places = allowedPlaces(
    ['App', '10.0.0.7', 'fd00::1', '192.168.0.0/16', 'fd01::/16'],
    ['http://php:8000', 'https://shop.test'],
  )
  const isAllowed = (url: string) => places.isAllowedUrl(new URL(url))
  for (const host of ['app', 'APP:9', '[fd00::1]:9', 'php:8000']) {
    assert.ok(isAllowed(`http://${host}/any`), host)
  }
  assert.ok(isAllowed('https://shop.test:443/'))
  for (const host of ['app.example', 'ap', 'php', 'php:22', 'shop.test', 'shop.test:443']) {
    assert.ok(!isAllowed(`http://${host}/any`), host)
  }
  assert.ok(!isAllowed('https://php:8000/') && !isAllowed('https://shop.test:8443/'))
  const allowed = ['10.0.0.7', '::ffff:10.0.0.7', 'fd00:0::1', '192.168.3.4', 'fd01:2::1']
  for (const address of allowed) assert.ok(places.isAllowedAddress(address), address)
  const others = ['10.0.0.8', 'fd00::2', '192.169.0.1', 'fe01::1', 'app', '']
  for (const address of others) assert.ok(!places.isAllowedAddress(address), address)
})

test('an entry of the list that could never match is refused', () => {
  const right = ['app', 'app.example', '10.0.0.7', '::1', '10.0.0.0/8', 'fd00::/8']
  for (const entry of right) assert.equal(allowFault(entry), undefined, entry)
  const wrong = ['app:8080', '[::1]', '10.0.0.0/33', '10.0.0.0/', '*.example', 'http://app', '']
  for (const entry of wrong) assert.match(allowFault(entry) ?? '', /^must be/, entry)
})

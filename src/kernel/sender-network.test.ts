import assert from 'node:assert/strict'
import { test } from 'node:test'
import { senderNetwork } from './sender-network.ts'

test('of an address only its network is said', () => {
  const rows = [
    ['203.0.113.77', '203.0.113.0/24'],
    ['::ffff:203.0.113.77', '203.0.113.0/24'],
    ['2001:DB8:7:1::5', '2001:db8:7::/48'],
    ['2001:db8::5', '2001:db8:0::/48'],
    ['fe80::1%eth0', 'fe80:0:0::/48'],
    ['::1', '0:0:0::/48'],
    ['1:2:3:4:5:6:7:8', '1:2:3::/48'],
    ['', null],
    ['example.com', null],
  ] as const
  for (const [address, network] of rows) assert.equal(senderNetwork(address), network, address)
})

/** The address guard's table: what is public, and everything else. */

import t from 'tap'
import { isPublicAddress } from '../../src/net/guard.ts'
import fc from '../support/fast-check.ts'

const inside = [
  ...['0.0.0.0', '0.1.2.3', '10.0.0.1', '100.64.0.1', '127.0.0.1', '127.255.255.255'],
  ...['169.254.169.254', '172.16.0.1', '172.31.255.255', '192.0.0.8', '192.0.2.1', '192.88.99.1'],
  ...['192.168.1.1', '198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9'],
  ...['224.0.0.1', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '64:ff9b::7f00:1'],
  ...['64:ff9b:1::1', '100::1', '2001::1', '2001:db8::1', '2002:7f00:1::', '3fff::1', '5f00::1'],
  ...['fc00::1', 'fd00:ec2::254', 'fe80::1', 'fec0::1', 'ff02::1'],
]
const outside = ['8.8.8.8', '1.1.1.1', '100.63.255.255', '172.32.0.1', '223.255.255.255']
const outside6 = ['2606:4700::1111', '2a00:1450:4001::1']

t.test('private, reserved and tunnelled addresses are not public', async (t) => {
  for (const address of inside) t.equal(isPublicAddress(address), false, address)
})

t.test('addresses of the internet are public', async (t) => {
  for (const address of [...outside, ...outside6]) t.equal(isPublicAddress(address), true, address)
})

t.test('what is no address in its plain notation is not public', async (t) => {
  for (const text of ['', 'localhost', '2130706433', '0x7f.1', '[::1]', '127.1', '8.8.8.8:80']) {
    t.equal(isPublicAddress(text), false, text)
  }
})

t.test('an IPv4 address behind an IPv6 prefix is never public', async () => {
  const octet = fc.integer({ min: 0, max: 255 })
  fc.assert(
    fc.property(fc.tuple(octet, octet, octet, octet), (octets) => {
      const plain = octets.join('.')
      const forms = [`::${plain}`, `::ffff:${plain}`, `64:ff9b::${plain}`]
      return forms.every((form) => !isPublicAddress(form))
    }),
  )
})

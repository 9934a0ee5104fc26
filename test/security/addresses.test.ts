/** From where a key or a token may be used: networks of both families, in every spelling. */
import t from 'tap'
import { addressCheck, restrictionOf } from '../../src/security/addresses.ts'

const mapped = ['::ffff:192.0.2.1', '::FFFF:c000:201', '0:0:0:0:0:ffff:192.0.2.1']

t.test('a network of IPv6 contains no address of IPv4, however short it is', async (t) => {
  for (const range of ['::/1', '::/64', '::/80', '::/95', '::1', '2000::/3']) {
    const isListed = addressCheck([range])
    for (const address of ['192.0.2.1', '0.0.0.0', '127.0.0.1', ...mapped]) {
      t.notOk(isListed(address), `${address} in ${range}`)
    }
  }
  t.ok(addressCheck(['::/64'])('::1'))
  t.ok(addressCheck(['::/64'])('::abcd'))
  t.ok(addressCheck(['2001:db8::/32'])('2001:db8:1::7'))
  t.notOk(addressCheck(['2001:db8::/32'])('2001:db9::7'))
})

t.test('a network of IPv4 contains no address of IPv6 but its own, spelt otherwise', async (t) => {
  const isListed = addressCheck(['192.0.2.0/24'])
  for (const address of ['192.0.2.1', ...mapped]) t.ok(isListed(address), address)
  for (const address of ['192.0.3.1', '::ffff:192.0.3.1', '::c000:201', '::1', 'fe80::1%lo']) {
    t.notOk(isListed(address), address)
  }
  t.ok(addressCheck(['0.0.0.0/1'])('127.0.0.1'))
  t.notOk(addressCheck(['0.0.0.0/1'])('::1'))
})

t.test('a network may be spelt as one of IPv6 that carries IPv4', async (t) => {
  for (const range of ['::ffff:192.0.2.0/120', '::ffff:c000:200/120']) {
    const isListed = addressCheck([range])
    for (const address of ['192.0.2.1', ...mapped])
      t.ok(isListed(address), `${address} in ${range}`)
    t.notOk(isListed('192.0.3.1'))
    t.notOk(isListed('::1'))
  }
  for (const address of ['192.0.2.1', ...mapped]) t.ok(addressCheck(mapped)(address))
  t.notOk(addressCheck(mapped)('192.0.2.2'))
})

t.test('what is no address is in no list, and an empty list restricts nothing', async (t) => {
  for (const address of ['', 'localhost', '192.0.2', '::g']) {
    t.notOk(addressCheck(['0.0.0.0/1', '::/1'])(address), address)
  }
  t.notOk(addressCheck(false)('127.0.0.1'))
  t.equal(restrictionOf([]), undefined)
})

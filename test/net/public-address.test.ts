/** The address table against one written in another way: by arithmetic over the registries' prefixes. */

import t from 'tap'
import { isPublicAddress } from '../../src/net/guard.ts'
import fc from '../support/fast-check.ts'

type Block = readonly [first: bigint, bits: number]

/** The IANA registry's entries that are not globally reachable, with multicast and what is reserved. */
const inside4: readonly Block[] = [
  [0x00000000n, 8],
  [0x0a000000n, 8],
  [0x64400000n, 10],
  [0x7f000000n, 8],
  [0xa9fe0000n, 16],
  [0xac100000n, 12],
  [0xc0000000n, 24],
  [0xc0000200n, 24],
  [0xc0586300n, 24],
  [0xc0a80000n, 16],
  [0xc6120000n, 15],
  [0xc6336400n, 24],
  [0xcb007100n, 24],
  [0xe0000000n, 4],
  [0xf0000000n, 4],
]
const inside6: readonly Block[] = [
  [0x2001n << 112n, 23],
  [0x20010db8n << 96n, 32],
  [0x2002n << 112n, 16],
  [0x3fffn << 112n, 20],
]

const within = (value: bigint, width: number, [first, bits]: Block) =>
  value >> BigInt(width - bits) === first >> BigInt(width - bits)

const dotted = (value: bigint) =>
  [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
const colons = (value: bigint) =>
  Array.from({ length: 8 }, (_, at) =>
    ((value >> BigInt(112 - 16 * at)) & 0xffffn).toString(16),
  ).join(':')

/** Near the edges of the blocks as often as anywhere. */
const around = (blocks: readonly Block[], width: number) =>
  fc.oneof(
    fc.bigInt({ min: 0n, max: (1n << BigInt(width)) - 1n }),
    fc
      .tuple(fc.constantFrom(...blocks), fc.bigInt({ min: -2n, max: 2n }), fc.boolean())
      .map(([[first, bits], by, atEnd]) => {
        const edge = atEnd ? first + (1n << BigInt(width - bits)) : first
        return BigInt.asUintN(width, edge + by)
      }),
  )

t.test('IPv4 addresses are public exactly outside the registry’s blocks', async () => {
  fc.assert(
    fc.property(around(inside4, 32), (value) => {
      const expected = !inside4.some((block) => within(value, 32, block))
      return isPublicAddress(dotted(value)) === expected
    }),
    { numRuns: 10_000 },
  )
})

t.test('IPv6 addresses are public exactly in 2000::/3 outside its special blocks', async () => {
  const global: Block = [0x2000n << 112n, 3]
  fc.assert(
    fc.property(around([...inside6, global], 128), (value) => {
      const expected =
        within(value, 128, global) && !inside6.some((block) => within(value, 128, block))
      return isPublicAddress(colons(value)) === expected
    }),
    { numRuns: 10_000 },
  )
})

t.test('no text makes it throw, and one with a zone is never public', async () => {
  fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(`2606:4700::1%${text}`)))
  fc.assert(fc.property(fc.string(), (text) => typeof isPublicAddress(text) === 'boolean'))
})

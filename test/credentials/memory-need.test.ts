/** The line that says that the heap is too small for the accounts, before they begin. */
import t from 'tap'
import { warnOfFiles, warnOfMemory } from '../../src/credentials/ownership.ts'
import { stage } from '../updates/stage.ts'

const MEGABYTE = 2 ** 20

t.test(
  'one line says how much the accounts need, and none is written where they fit',
  async (t) => {
    const { db, credential } = await stage(t)
    for (let account = 0; account < 100; account++) await credential()
    const lines: unknown[] = []
    const logger = { warn: (...line: unknown[]) => void lines.push(line) }
    const warn = (most: number, used = 50) =>
      warnOfMemory(db, logger, { most: most * MEGABYTE, used: used * MEGABYTE })

    // A hundred of 28 KB are 2.7 MB, beside the 50 MB of the service; a quarter stays free.
    await warn(71)
    t.same(lines, [])
    await warn(70)
    const remedy =
      'give it more: NODE_OPTIONS=--max-old-space-size=71, and the container as much again'
    t.same(lines, [
      [{ accounts: 100, heapMegabytes: 70, remedy }, 'the heap is too small for so many accounts'],
    ])

    lines.length = 0
    await db.query(`update credential set platform = 'telegram'`)
    await warn(90)
    t.equal(lines.length, 1, 'its accounts take more')
    await warn(91)
    t.equal(lines.length, 1)
    await db.query(`update credential set platform = 'xmpp'`)
    await warn(73)
    t.equal(lines.length, 1)
    await warn(72)
    t.equal(lines.length, 2, 'and those of XMPP less, and more than others')
    await db.query('update credential set deactivated_at = now()')
    await warn(70)
    t.equal(lines.length, 2, 'those that do not begin need nothing')
  },
)

t.test('another line says how many connections the accounts keep open', async (t) => {
  const { db, credential } = await stage(t)
  for (let account = 0; account < 10; account++) await credential()
  const lines: unknown[] = []
  const logger = { warn: (...line: unknown[]) => void lines.push(line) }
  await warnOfFiles(db, logger, 500)
  t.equal(lines.length, 1, 'so few are too few for the service itself')

  lines.length = 0
  await db.query(`update credential set platform = 'xmpp'`)
  await warnOfFiles(db, logger, 1_010)
  t.same(lines, [])
  await warnOfFiles(db, logger, 1_009)
  t.match(lines, [
    [
      { accounts: 10, openFiles: 1_009, remedy: /^raise the limit to 1010 .*LimitNOFILE=/ },
      'so many connections cannot be open at once',
    ],
  ])
})

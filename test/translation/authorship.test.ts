/** Who may edit and take back what, on networks that let anybody say so. */

import t from 'tap'
import type { Happening } from '../../machines/model/happening.ts'
import { Translator } from '../../src/translation/translator.ts'
import { testDatabase } from '../support/database.ts'
import { testFileIds } from '../support/file-ids.ts'
import { stage } from '../updates/stage.ts'

const chat = { native: 'ada@example.org', surface: 'private', firstName: 'Ada' } as const
const ada = { native: 'ada@example.org', firstName: 'Ada' }
const me = { native: 'me@example.org', firstName: 'Me' }

type Direction = Happening['direction']

const written = (native: string, direction: Direction, kind: 'message' | 'edited' = 'message') =>
  ({
    sourceKey: `${kind}:${native}:${direction}`,
    kind,
    direction,
    at: 1,
    message: {
      native,
      chat,
      from: direction === 'own' ? me : ada,
      at: 1,
      content: { kind: 'text', text: kind, entities: [] },
    },
  }) satisfies Happening

const deleted = (native: string, direction: Direction) =>
  ({
    sourceKey: `deleted:${native}:${direction}`,
    kind: 'deleted',
    direction,
    at: 1,
    chat: chat.native,
    surface: 'private',
    messages: [native],
  }) satisfies Happening

t.test('in a private chat only the writer edits or deletes', async (t) => {
  const { database } = await testDatabase(t)
  const translator = new Translator(database, testFileIds, () => 'mapped')
  const keys = async (...happenings: Happening[]) => {
    const { drafts } = await translator.drafts({ credentialId: 1, epoch: 0 }, happenings)
    return drafts.map(({ sourceKey }) => sourceKey)
  }
  await keys(written('mine', 'own'), written('hers', 'incoming'))
  t.same(await keys(written('mine', 'incoming', 'edited')), [], 'she edits mine')
  t.same(await keys(written('hers', 'own', 'edited')), [], 'I edit hers')
  t.same(await keys(written('hers', 'incoming', 'edited')), ['edited:hers:incoming'])
  t.same(await keys(written('mine', 'own', 'edited')), ['edited:mine:own'])
  t.same(
    await keys(written('late', 'own'), written('late', 'incoming', 'edited')),
    ['message:late:own'],
    'also in the batch that brings the message',
  )
  t.same(await keys(written('fresh', 'own'), deleted('fresh', 'incoming')), ['message:fresh:own'])
  t.same(await keys(written('gone', 'incoming'), deleted('gone', 'incoming')), [
    'message:gone:incoming',
    'deleted:gone:incoming',
  ])
})

t.test('who wrote a message is remembered by the table', async (t) => {
  const { db, credential } = await stage(t)
  const owned = { credentialId: await credential(), epoch: 0 }
  const result = { kind: 'message', message: written('sent', 'own').message } as const
  const translator = new Translator(db, testFileIds, () => 'mapped')
  translator.identified(owned.credentialId, me.native)
  t.match(await translator.present(owned, result, false), { from: { is_bot: true } })
  const later = new Translator(db, testFileIds, () => 'mapped')
  t.same((await later.drafts(owned, [deleted('sent', 'incoming')])).drafts, [])
  t.equal((await later.drafts(owned, [deleted('sent', 'own')])).drafts.length, 1)
})

t.test('what the account wrote is shown as written by a bot, as getMe shows it', async (t) => {
  const { database } = await testDatabase(t)
  const translator = new Translator(database, testFileIds, () => 'mapped')
  translator.identified(1, me.native)
  const owned = { credentialId: 1, epoch: 0 }
  const authors = async () => {
    const { drafts } = await translator.drafts(owned, [
      written('a', 'own'),
      written('b', 'incoming'),
    ])
    return drafts.map(({ payload }) => /"is_bot":(true|false)/.exec(`${payload}`)?.[1])
  }
  t.same(await authors(), ['true', 'false'])
})

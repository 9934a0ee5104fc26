/** Which events the receive settings let through. */
import t from 'tap'
import type { Surface } from '../../../machines/model/content.ts'
import { admits, type Happening, type ReceiveSettings } from '../../../machines/model/happening.ts'
import { nothing } from '../credential/rig.ts'

const base = { sourceKey: 'k', direction: 'incoming', at: 1 } as const

const message = (surface: Surface, more: Partial<Happening> = {}): Happening =>
  ({
    ...base,
    kind: 'message',
    message: { native: 'm', chat: { native: 'c', surface }, at: 1, content: { kind: 'text' } },
    ...more,
  }) as Happening

const deleted = (surface?: Surface): Happening => ({
  ...base,
  kind: 'deleted',
  messages: ['m'],
  ...(surface && { surface }),
})

const only = (...names: (keyof ReceiveSettings)[]): ReceiveSettings => ({
  ...nothing,
  ...Object.fromEntries(names.map((name) => [name, true])),
})

t.test('messages of people and groups always come through', async (t) => {
  for (const surface of ['private', 'group', 'supergroup'] as const) {
    t.ok(admits(nothing, message(surface)), surface)
    t.ok(admits(nothing, message(surface, { recovered: true })), `${surface}, fetched later`)
  }
})

t.test('what the account itself did comes through only if asked for', async (t) => {
  const own = message('private', { direction: 'own' })
  t.notOk(admits(nothing, own))
  t.ok(admits(only('includeSelfUpdates'), own))
  const post = message('channel', { direction: 'own' })
  t.notOk(admits(only('includeSelfUpdates'), post), 'in a channel both have to be asked for')
  t.ok(admits(only('includeSelfUpdates', 'includeChannelUpdates'), post))
})

t.test('changes that the account made to a chat are told, as in the reference', async (t) => {
  const own = (surface: Surface, content: object) =>
    message(surface, {
      direction: 'own',
      message: { native: 'm', chat: { native: 'c', surface }, at: 1, content },
    } as Partial<Happening>)
  const fact = (name: string) => ({ kind: 'service', fact: name })
  const told = ['title', 'photo', 'pinned', 'left', 'topic_closed', 'post_declined', 'refunded']
  for (const name of [...told, 'option_added']) {
    t.ok(admits(nothing, own('supergroup', fact(name))), name)
    t.notOk(admits(nothing, own('channel', fact(name))), `${name} in a channel`)
  }
  for (const name of ['joined', 'created', 'tasks_done', 'gift', 'paid']) {
    t.notOk(admits(nothing, own('supergroup', fact(name))), name)
  }
})

t.test('channel posts need one setting, recovered ones two', async (t) => {
  const recovered = message('channel', { recovered: true })
  t.notOk(admits(nothing, message('channel')))
  t.ok(admits(only('includeChannelUpdates'), message('channel')))
  t.notOk(admits(only('includeChannelUpdates'), recovered))
  t.notOk(admits(only('includeChannelUpdateRecovery'), recovered))
  t.ok(admits(only('includeChannelUpdates', 'includeChannelUpdateRecovery'), recovered))
})

t.test('deletions need their setting, and that of channels for a channel', async (t) => {
  t.notOk(admits(nothing, deleted()))
  t.ok(admits(only('includeDeletedUpdates'), deleted()))
  t.ok(admits(only('includeDeletedUpdates'), deleted('group')))
  t.notOk(admits(only('includeDeletedUpdates'), deleted('channel')))
  t.ok(admits(only('includeDeletedUpdates', 'includeChannelUpdates'), deleted('channel')))
})

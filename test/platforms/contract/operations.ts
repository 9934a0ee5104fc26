/** Every operation a platform declares makes one round trip against the other side. */

import type { Test } from 'tap'
import type { OperationKind } from '../../../machines/model/operation.ts'
import { groupOperations } from './group-operations.ts'
import type { ContractHarness } from './harness.ts'
import { type Checks, messageChecks } from './message-operations.ts'
import { readingChecks } from './reading.ts'
import { patience, says } from './recorder.ts'
import { sandboxOperations } from './sandbox-operations.ts'
import { able, need, perform, type Scene, scene, sending, sent, words } from './scene.ts'
import { storyOperations } from './stories.ts'
import { topicChecks } from './topic-operations.ts'

const checks: Checks = {
  ...messageChecks,
  ...topicChecks,
  ...readingChecks,
  send: [
    'a message is sent, and so is an answer to one',
    async (t, { first, peer, store, account }) => {
      const asked = words('asked')
      const question = await peer.write(asked)
      const happening = await store.message(asked)
      const answer = words('answered')
      const replyTo = happening.kind === 'message' ? happening.message.native : ''
      const message = await sent(first, peer.chat, answer, { replyTo })
      const seen = await peer.sees(answer, patience())
      t.equal(seen.replyTo, question.handle)
      t.match(message, {
        chat: { native: peer.chat, surface: 'private' },
        from: { native: account.native },
        content: { kind: 'text', text: answer },
        replyTo: { native: replyTo },
      })
      t.ok(Math.abs(message.at - Date.now() / 1000) < 60)
    },
  ],
  edit: [
    'a message is edited',
    async (t, { first, peer }) => {
      const before = words('before')
      const { native } = await sent(first, peer.chat, before)
      const seen = await peer.sees(before, patience())
      const after = words('after')
      const content = { kind: 'text' as const, text: after, entities: [] }
      const edited = await perform(first, {
        kind: 'edit',
        chat: peer.chat,
        message: native,
        content,
      })
      t.match(edited, { kind: 'message', message: { native, content: { text: after } } })
      t.equal((await peer.sees(after, patience())).handle, seen.handle)
      t.equal(await peer.count(before), 0)
    },
  ],
  delete: [
    'a message is deleted for all',
    async (t, { first, peer }) => {
      const text = words('to be deleted')
      const { native } = await sent(first, peer.chat, text)
      const seen = await peer.sees(text, patience())
      const operation = { kind: 'delete', chat: peer.chat, message: native } as const
      t.match(await perform(first, operation), { kind: 'done' })
      await peer.seesGone(seen, patience())
    },
  ],
  forward: ['a message is forwarded with its origin', (t, scene) => passOn(t, scene, 'forward')],
  copy: ['a message is copied without its origin', (t, scene) => passOn(t, scene, 'copy')],
  act: [
    'typing is seen',
    async (_, { first, peer }) => {
      const seen = peer.seesTyping(patience())
      await perform(first, { kind: 'act', chat: peer.chat, action: 'typing' })
      await seen
    },
  ],
  answer: [
    'a pressed button is answered',
    async (t, { first, peer, store }) => {
      const text = words('press')
      await sent(first, peer.chat, text, { buttons: [[{ text: 'Yes', data: 'yes' }]] })
      const seen = await peer.sees(text, patience())
      t.match(seen.buttons, [[{ text: 'Yes' }]])
      const pressed = peer.press!(seen, 'yes', patience())
      const happening = await store.until(() =>
        store.happenings.find(({ kind }) => kind === 'callback'),
      )
      if (happening.kind !== 'callback') throw new Error('not a callback')
      t.match(happening, { data: 'yes', message: { content: { text } } })
      await perform(first, { kind: 'answer', callback: happening.callback, text: 'noted' })
      t.equal((await pressed).text, 'noted')
    },
  ],
  describe: [
    'a chat is described',
    async (t, { first, peer }) => {
      const described = await perform(first, { kind: 'describe', chat: peer.chat })
      t.match(described, { kind: 'chat', chat: { native: peer.chat, surface: 'private' } })
    },
  ],
}

async function passOn(t: Test, { first, peer, store }: Scene, kind: 'forward' | 'copy') {
  const text = words(kind)
  const seen = await peer.write(text)
  const happening = await store.message(text)
  if (happening.kind !== 'message') throw new Error('not a message')
  const message = happening.message.native
  const result = await perform(first, { kind, chat: peer.chat, from: peer.chat, message })
  if (result.kind !== 'message') throw new Error(`a ${kind} resolves with the message`)
  // A network may tell no more of a copy than its id.
  if (result.message.content.kind !== 'unsupported') t.match(result.message, { content: { text } })
  t.not(result.message.native, message)
  t.equal(result.message.forward !== undefined, kind === 'forward')
  const passed = await peer.sees(text, patience())
  t.ok(seen.handle)
  t.equal(passed.forwarded ?? false, kind === 'forward')
}

export async function operationContract(t: Test, harness: ContractHarness) {
  const { capabilities } = harness.platform

  for (const kind of capabilities.operations) {
    const [sentence, check, ...abilities] = checks[kind] ?? []
    if (!sentence || !check) continue
    await able(t, harness, abilities, `${kind}: ${sentence}`, async (t) =>
      check(t, await scene(t, harness), harness),
    )
  }

  await t.test('every declared operation is checked', async (t) => {
    const apart: readonly OperationKind[] = [
      'resolve',
      ...storyOperations,
      ...groupOperations,
      ...(Object.keys(sandboxOperations) as OperationKind[]),
    ]
    const unchecked = capabilities.operations.filter(
      (kind) => !(kind in checks) && !apart.includes(kind),
    )
    t.strictSame(unchecked, [])
  })

  if (capabilities.operations.includes('resolve')) {
    await able(t, harness, ['publicName'], 'resolve: a public name is found', async (t) => {
      const { first, peer } = await scene(t, harness)
      const { name, chat } = need(peer.publicName, 'publicName')
      const found = await perform(first, { kind: 'resolve', name })
      t.match(found, { kind: 'chat', chat: { native: chat } })
    })
  }

  await t.test('what the session sent itself is not reported to it', async (t) => {
    const { first, peer, store } = await scene(t, harness)
    const own = words('own')
    await sent(first, peer.chat, own)
    const later = words('later')
    await peer.write(later)
    await store.message(later)
    t.notOk(store.reported.some((happening) => says(happening, 'message', own)))
  })

  await able(t, harness, ['deduplication'], 'a repeated request is one message', async (t) => {
    const { first, peer } = await scene(t, harness)
    const text = words('once')
    const requestId = crypto.randomUUID()
    const once = await perform(first, sending(peer.chat, text), requestId)
    const again = await perform(first, sending(peer.chat, text), requestId)
    if (once.kind !== 'message' || again.kind !== 'message') throw new Error('no message')
    t.equal(again.message.native, once.message.native)
    await peer.sees(text, patience())
    t.equal(await peer.count(text), 1)
  })
}

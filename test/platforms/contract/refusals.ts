/** What cannot be done is refused in words a client understands, and says whether it is certain. */
import type { Test } from 'tap'
import type { Content } from '../../../machines/content.ts'
import type { Operation, OperationKind } from '../../../machines/operation.ts'
import type { ContractHarness } from './harness.ts'
import { patience } from './recorder.ts'
import { able, need, perform, refusalOf, scene, sending, sent, words } from './scene.ts'

export async function refusalContract(t: Test, harness: ContractHarness) {
  const { capabilities } = harness.platform
  const undeclared = (Object.keys(samples) as OperationKind[]).filter(
    (kind) => !capabilities.operations.includes(kind),
  )

  await t.test('an operation that is not declared is not supported', async (t) => {
    const { first, peer } = await scene(t, harness)
    for (const kind of undeclared) {
      const failure = await refusalOf(perform(first, samples[kind](peer.chat)))
      t.match(failure, { code: 'bad_request', description: /is not supported/ }, kind)
    }
  })

  await t.test('content that is not declared is not supported', async (t) => {
    const { first, peer } = await scene(t, harness)
    for (const content of contents) {
      const kind = content.kind === 'media' ? content.media.kind : content.kind
      if (capabilities.content.includes(kind)) continue
      const failure = await refusalOf(perform(first, { kind: 'send', chat: peer.chat, content }))
      t.match(failure, { code: 'bad_request', description: /is not supported/ }, kind)
    }
  })

  await t.test('buttons that are not declared are not supported', async (t) => {
    if (capabilities.buttons) return
    const { first, peer } = await scene(t, harness)
    const buttons = [[{ text: 'Yes', data: 'yes' }]]
    const failure = await refusalOf(
      perform(first, sending(peer.chat, words('buttons'), { buttons })),
    )
    t.match(failure, { code: 'bad_request', description: /is not supported|are not supported/ })
  })

  await t.test('a text is refused beyond the declared length, not before', async (t) => {
    const { first, peer } = await scene(t, harness)
    const { textLength } = capabilities.limits
    const longest = words('longest').padEnd(textLength, '.')
    await sent(first, peer.chat, longest)
    t.equal((await peer.sees(longest, patience())).text.length, textLength)
    const failure = await refusalOf(perform(first, sending(peer.chat, `${longest}.`)))
    t.match(failure, { code: 'bad_request', description: 'message is too long' })
  })

  await able(t, harness, ['unknownChat'], 'an unknown chat is not found', async (t) => {
    const { first } = await scene(t, harness)
    const chat = need(harness.unknownChat, 'unknownChat')
    const failure = await refusalOf(perform(first, sending(chat, words('nobody'))))
    t.match(failure, { code: 'bad_request', description: 'chat not found' })
  })

  await able(
    t,
    harness,
    ['forbiddenChat'],
    'a chat closed to the account is forbidden',
    async (t) => {
      const { first, account } = await scene(t, harness)
      const chat = await need(account.forbiddenChat, 'forbiddenChat').call(account)
      const failure = await refusalOf(perform(first, sending(chat, words('forbidden'))))
      t.equal(failure.code, 'forbidden')
    },
  )

  await able(t, harness, ['loseAnswer'], 'an unknown outcome is told, and healed', async (t) => {
    const { first, account, peer } = await scene(t, harness)
    await need(account.loseAnswer, 'loseAnswer').call(account)
    const text = words('unknown')
    const requestId = crypto.randomUUID()
    const failure = await refusalOf(perform(first, sending(peer.chat, text), requestId))
    t.match(failure, { code: 'timeout', certain: false })
    await peer.sees(text, patience())
    await perform(first, sending(peer.chat, text), requestId)
    t.equal(await peer.count(text), 1, 'the repeated request is the same message')
  })

  await able(
    t,
    harness,
    ['silence'],
    'a send into silence ends when its caller does',
    async (t) => {
      const { first, account, peer } = await scene(t, harness)
      await need(account.silence, 'silence').call(account)
      t.teardown(() => account.unsilence?.())
      const signal = AbortSignal.timeout(1_000)
      const began = performance.now()
      await t.rejects(
        first.session.perform(sending(peer.chat, words('silent')), crypto.randomUUID(), signal),
      )
      t.ok(performance.now() - began < 5_000)
    },
  )
}

const text = (value: string) => ({ kind: 'text' as const, text: value, entities: [] })

const samples: Record<OperationKind, (chat: string) => Operation> = {
  send: (chat) => ({ kind: 'send', chat, content: text('x') }),
  edit: (chat) => ({ kind: 'edit', chat, message: '1', content: text('x') }),
  delete: (chat) => ({ kind: 'delete', chat, message: '1' }),
  forward: (chat) => ({ kind: 'forward', chat, from: chat, message: '1' }),
  copy: (chat) => ({ kind: 'copy', chat, from: chat, message: '1' }),
  act: (chat) => ({ kind: 'act', chat, action: 'typing' }),
  answer: () => ({ kind: 'answer', callback: '1' }),
  resolve: () => ({ kind: 'resolve', name: 'nobody' }),
  describe: (chat) => ({ kind: 'describe', chat }),
}

const contents: readonly Content[] = [
  { kind: 'media', media: { kind: 'photo', file: 'x' }, caption: { text: '', entities: [] } },
  { kind: 'media', media: { kind: 'document', file: 'x' }, caption: { text: '', entities: [] } },
  { kind: 'location', latitude: 35.7, longitude: 51.4 },
  { kind: 'contact', phone: '+15550100', firstName: 'Ada' },
  { kind: 'poll', question: { text: 'Tea?', entities: [] }, options: ['Yes', 'No'] },
  { kind: 'dice', emoji: '🎲', value: 1 },
]

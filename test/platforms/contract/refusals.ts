/** What cannot be done is refused in words a client understands, and says whether it is certain. */
import type { Test } from 'tap'
import { contentName } from '../../../machines/model/content.ts'
import type { OperationKind } from '../../../machines/model/operation.ts'
import type { ContractHarness } from './harness.ts'
import { patience } from './recorder.ts'
import { contents, operations } from './samples.ts'
import { able, need, perform, refusalOf, scene, sending, sent, words } from './scene.ts'

/** The operation or content, or how a person would say it, and the network. */
const notSupported = /^[\w ]+ is not supported on (the )?\w+( \w+)?$/

export async function refusalContract(t: Test, harness: ContractHarness) {
  const { capabilities } = harness.platform
  const undeclared = (Object.keys(operations) as OperationKind[]).filter(
    (kind) => !capabilities.operations.includes(kind),
  )

  await t.test('an operation that is not declared is not supported', async (t) => {
    const { first, peer } = await scene(t, harness)
    for (const kind of undeclared) {
      const failure = await refusalOf(perform(first, operations[kind](peer.chat)))
      t.match(failure, { code: 'bad_request', description: notSupported }, kind)
    }
  })

  await t.test('content that is not declared is not supported', async (t) => {
    const { first, peer } = await scene(t, harness)
    for (const content of contents) {
      const kind = contentName(content)
      if (capabilities.content.some((declared) => declared === kind)) continue
      const failure = await refusalOf(perform(first, { kind: 'send', chat: peer.chat, content }))
      t.match(failure, { code: 'bad_request', description: notSupported }, kind)
    }
  })

  await t.test('buttons that are not declared are not supported', async (t) => {
    if (capabilities.buttons) return
    const { first, peer } = await scene(t, harness)
    const buttons = [[{ text: 'Yes', data: 'yes' }]]
    const failure = await refusalOf(
      perform(first, sending(peer.chat, words('buttons'), { buttons })),
    )
    t.match(failure, {
      code: 'bad_request',
      description:
        /^(buttons|inline keyboards) are not supported on [\w ]+$|^this kind of reply markup is not supported on \S+$/,
    })
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

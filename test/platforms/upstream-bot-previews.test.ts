/** What is shown of the pages that texts of bots link to is passed on, where the network lets itself be told. */
import t, { type Test } from 'tap'
import type { Operation } from '../../machines/model/operation.ts'
import { bale, type Flavour, telegramBot } from '../../src/platforms/upstream-bot/flavour.ts'
import { perform } from './contract/scene.ts'
import { ok, session, startStub, update } from './upstream-bot/stub.ts'

async function optionsOf(t: Test, flavour: Flavour, preview: object) {
  const stub = await startStub(t)
  const open = await session(t, stub.url, flavour)
  await open.reported('opened')
  const link_preview_options = { is_disabled: true }
  const { message } = update('sent', { link_preview_options })
  const content = { kind: 'text' as const, text: 'https://example.org', entities: [], preview }
  const asked = []
  for (const method of ['sendMessage', 'editMessageText']) {
    stub.next(method, ok(message))
    const operation = method === 'sendMessage' ? { kind: 'send' } : { kind: 'edit', message: '5' }
    const done = await perform(open, { ...operation, chat: '42', content } as Operation)
    t.match(done, { message: { content: { text: 'sent', preview: { isOff: true } } } })
    asked.push(stub.asked.findLast((call) => call.method === method)?.body.link_preview_options)
  }
  const [sent, edited] = asked
  t.strictSame(sent, edited)
  return sent
}

t.test('what a bot chooses is passed on', async (t) => {
  t.strictSame(await optionsOf(t, telegramBot, { isOff: true }), { is_disabled: true })
  const url = 'https://example.org/other'
  t.strictSame(await optionsOf(t, telegramBot, { url, size: 'small', isAbove: true }), {
    url,
    prefer_small_media: true,
    show_above_text: true,
  })
  t.equal(await optionsOf(t, bale, { isOff: true }), undefined)
})

/** The main path in Firefox and in WebKit: what these two do otherwise than Chromium. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import t, { type Test } from 'tap'
import { until } from '../support/client.ts'
import { type Service, startService } from '../support/service.ts'
import { originOf } from './browser.ts'
import { buildPanel } from './build.ts'
import { type Engine, engines, noFirefox, noWebKit } from './engines.ts'
import { ENTER, Hands } from './hands.ts'

async function sceneOf(service: Service, phone: string) {
  const client = await service.client(phone)
  const vera = await client.person('Vera', 'vera_bot')
  const ada = await client.person('Ada')
  return { service, phone, client, vera, ada, origin: originOf(service) }
}

interface Walk extends Awaited<ReturnType<typeof sceneOf>> {
  readonly engine: Engine
  readonly hands: Hands
}

async function signIn({ engine, hands, service, phone, origin }: Walk) {
  await engine.open(`${origin}/login`)
  await hands.fill('input[name=phone]', phone)
  await hands.press('button[type=submit]')
  await hands.fill('input[name=otp]', await service.code(phone))
  await hands.press('button[type=submit]')
  await hands.see('Link your first messenger account')
  // A new page has nothing but the cookie.
  await engine.open(`${origin}/dashboard/link`)
}

async function linkAccount({ hands, client, vera }: Walk) {
  await hands.press('input[value=sandbox]')
  await hands.fill('input[name=phone]', vera.phone)
  await hands.press('button[type=submit]', 'Start')
  await hands.fill('input[name=code]', await client.code(vera.id))
  await hands.press('button', 'Continue')
  await hands.see('The account is linked')
}

async function makeKey({ hands }: Walk): Promise<string> {
  await hands.press('a', 'Create a key')
  await hands.fill('.dialog input', 'my bot')
  await hands.press('button', 'Make the key')
  const key = await hands.until<string>('document.querySelector(".copied code")?.innerText')
  await hands.press('button', 'I have kept it')
  return key
}

async function talk(t: Test, { engine, hands, client, vera, ada, origin }: Walk, key: string) {
  const next = async () => {
    const [update] = await until(async () => {
      const { body } = await client.bot(key, 'getUpdates', { timeout: 5, limit: 1, offset })
      return body.result.length > 0 && body.result
    }, 30_000)
    offset = update.update_id + 1
    return update
  }
  let offset = 0
  await engine.open(`${origin}/dashboard/sandbox?as=${ada.id}&chat=${vera.id}`)
  await hands.fill('.composer textarea', `سلام, is it open?${ENTER}`)
  const asked = await next()
  t.match(asked.message, { text: 'سلام, is it open?' })
  await client.bot(key, 'sendMessage', {
    chat_id: asked.message.chat.id,
    text: 'It is',
    reply_markup: { inline_keyboard: [[{ text: 'Order', callback_data: 'order' }]] },
  })
  await hands.press('.line button', 'Order')
  const { callback_query } = await next()
  t.match(callback_query, { data: 'order' })
  const answer = { callback_query_id: callback_query.id, text: 'On its way' }
  await client.bot(key, 'answerCallbackQuery', answer)
  await hands.see('On its way')
  const directory = await mkdtemp(join(tmpdir(), 'chapar-picture-'))
  t.teardown(() => rm(directory, { recursive: true }))
  const picture = join(directory, 'dot.png')
  const create = { width: 40, height: 30, channels: 3, background: 'teal' } as const
  await writeFile(picture, await sharp({ create }).png().toBuffer())
  await engine.attach('.composer input[type=file]', picture)
  await hands.see('dot.png')
  await hands.fill('.composer textarea', `Like this${ENTER}`)
  t.match((await next()).message, { caption: 'Like this', photo: [{ file_id: String }] })
  await hands.until('document.querySelector(".line img[src^=blob]")?.naturalWidth > 0')
  return asked.message.chat.id as number
}

async function walk(t: Test, on: Walk) {
  const { engine, hands, service, client, origin } = on
  await signIn(on)
  await linkAccount(on)
  const key = await makeKey(on)
  const chatId = await talk(t, on, key)
  await hands.press('button[aria-label=Language]')
  await hands.press('[role=menuitemradio]', 'فارسی')
  await hands.until('document.documentElement.dir === "rtl"')
  // The page has heard nothing for a while, and hears on by itself.
  await service.restart()
  const { items } = await client.result('GET', '/platforms/credentials')
  const [{ credential_id }] = items
  await client.state(credential_id, 'active', 30_000)
  await client.bot(key, 'sendMessage', { chat_id: chatId, text: 'Back again' })
  await hands.see('Back again')
  await engine.open(`${origin}/dashboard/accounts/${credential_id}`)
  await hands.until('document.querySelector(".plot canvas") !== null')
  const { scrollWidth, clientWidth } = await engine.read<Record<string, number>>(
    '(({ scrollWidth, clientWidth }) => ({ scrollWidth, clientWidth }))(document.documentElement)',
  )
  t.equal(scrollWidth, clientWidth, 'nothing is wider than the screen')
  t.same(await engine.complaints(), [], 'no script fails, and the content policy stops nothing')
}

const browsers = [
  { name: 'Firefox', skip: noFirefox, phone: '+14155559481' },
  { name: 'WebKit', skip: noWebKit, phone: '+14155559482' },
] as const
const isSkipped = browsers.every(({ skip }) => skip)
if (!isSkipped) await buildPanel()
const service = isSkipped ? undefined : await startService(t)

for (const { name, skip, phone } of browsers) {
  t.test(`the main path in ${name}`, { skip, timeout: 240_000 }, async (t) => {
    if (!service) throw new Error('there is no service')
    const [scene, engine] = await Promise.all([sceneOf(service, phone), engines[name].start(t)])
    await walk(t, { ...scene, engine, hands: new Hands(engine) })
  })
}

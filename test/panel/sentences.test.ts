/** What the service says in sentences is said in Persian, too: of a diagnosis and a health test, as they really are. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startService } from '../support/service.ts'

interface Translate {
  known(group: string, sentence: string): string
  word(group: string, word: string): string
}

interface Translating {
  translator(catalogue: object, language: string): Translate
}

const messages = join(import.meta.dirname, '../../src/panel/i18n')
// The panel is checked by a project of its own.
const { translator } = (await import(join(messages, 'translate.ts'))) as Translating
const translatorOf = (language: string) => {
  const areas = globSync(join(messages, language, '*.json'))
  const read = (path: string): object => JSON.parse(readFileSync(path, 'utf8'))
  return translator(Object.assign({}, ...areas.map(read)), language)
}
const persian = translatorOf('fa')
const english = translatorOf('en')

t.test('values are taken over, words and times among them are translated', async (t) => {
  const said = (sentence: string) => persian.known('said', sentence)
  t.equal(said('Signed in as Ada (@ada)'), 'وارد شده با نام Ada (@ada)')
  t.equal(said('12 updates wait'), '۱۲ به‌روزرسانی منتظر است')
  t.equal(
    said(
      'The credential is degraded (no_traffic): The connection stands, but nothing comes through it',
    ),
    'وضعیت حساب: ناقص (no_traffic): وصل است ولی چیزی رد و بدل نمی‌شود',
  )
  t.match(said('The last event came at 2026-03-21T10:00:00.000Z'), /۱۴۰۵/)
  t.equal(said('{count} updates wait (.*)'), '{count} updates wait (.*)', 'unknown ones stay')
  t.equal(english.known('said', 'Signed in as Ada (@ada)'), 'Signed in as Ada (@ada)')
})

t.test('every sentence of a real diagnosis and a real health test is known', async (t) => {
  const service = await startService(t)
  const client = await service.client()
  const bot = await client.person('Bot', 'said_bot')
  const friend = await client.person('Friend', 'said_friend')
  const credentialId = await client.link(bot)
  const { api_key_id, key } = await client.key(credentialId)
  await client.write(friend.id, '@said_bot', 'Hello')
  const look = async (t: Test) => {
    const wish = { all: true, send_to: '@nobody_here', key }
    const { steps } = await client.result('POST', `/api_keys/${api_key_id}/diagnosis`, wish)
    for (const { step, evidence, code } of steps) {
      for (const line of evidence) isKnown(t, line, step)
      if (code !== null) t.not(persian.word('diagnosis.fix', code), code.replaceAll('_', ' '), code)
    }
    const sendTo = { send_to: '@said_friend' }
    const path = `/platforms/credentials/${credentialId}/test`
    const { checks } = await client.result('POST', path, sendTo)
    for (const { check, detail, code } of checks) {
      if (detail !== '') isKnown(t, detail, check)
      if (code !== null) t.not(persian.word('diagnosis.fix', code), code.replaceAll('_', ' '), code)
    }
  }
  const put = (fault: string, details = {}) =>
    client.result('PUT', `/sandbox/people/${bot.id}/faults/${fault}`, details)
  await t.test('while all is well', look)
  await put('silence')
  await client.state(credentialId, 'degraded', 60_000)
  await t.test('when nothing comes through', look)
  await client.result('DELETE', `/sandbox/people/${bot.id}/faults`)
  await client.state(credentialId, 'active', 60_000)
  await put('flood_wait', { seconds: 600 })
  await client.state(credentialId, 'degraded', 60_000)
  await t.test('when it is restricted', look)
  await put('ban')
  await client.state(credentialId, 'invalid', 60_000)
  await t.test('when it is banned', look)
})

function isKnown(t: Test, line: string, where: string) {
  t.not(persian.known('said', line), line, `${where}: ${line}`)
}

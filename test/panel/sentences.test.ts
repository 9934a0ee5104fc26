/** Every sentence of a real diagnosis and a real health test is there in Persian, too. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { inWords } from '../../src/diagnosis/words.ts'
import { startService } from '../support/service.ts'

interface Coded {
  readonly code: string
  readonly params: object
}

interface Translate {
  fact(sentence: Coded | null, text: string): string
  word(group: string, word: string): string
}

interface Translating {
  translator(catalogue: object, language: string): Translate
}

const messages = join(import.meta.dirname, '../../src/panel/i18n')
// The panel is checked by a project of its own.
const { translator } = (await import(join(messages, 'translate.ts'))) as Translating
const catalogue = (language: string): Readonly<Record<string, string>> => {
  const areas = globSync(join(messages, language, '*.json'))
  const read = (path: string): object => JSON.parse(readFileSync(path, 'utf8'))
  return Object.assign({}, ...areas.map(read))
}
const translatorOf = (language: string) => translator(catalogue(language), language)
const persian = translatorOf('fa')
const english = translatorOf('en')

t.test('values are taken over, words and times among them are translated', async (t) => {
  const said = (code: string, params: object) => persian.fact({ code, params }, 'as it is')
  // What is not Persian keeps its own order within the sentence.
  t.equal(said('signed_in', { name: 'Ada (@ada)' }), 'وارد شده با نام \u2068Ada (@ada)\u2069')
  t.match(
    said('last_error', { message: 'Connection refused', at: '2026-03-21T10:00:00.000Z' }),
    /^\u2068Connection refused\u2069 \(\u2068[^\u2069]*۱۴۰۵[^\u2069]*\u2069\)$/,
  )
  t.equal(said('pending', { count: 12 }), '۱۲ به‌روزرسانی منتظر است')
  t.equal(said('pending', { count: 1 }), '۱ به‌روزرسانی منتظر است')
  t.equal(
    said('state_explained', { state: 'degraded', reason: 'no_traffic' }),
    'وضعیت حساب: ناقص؛ وصل است ولی چیزی رد و بدل نمی‌شود',
  )
  t.match(said('last_event', { at: '2026-03-21T10:00:00.000Z' }), /۱۴۰۵/)
  t.match(
    said('message_refused', { to: '@ada', refusal: 'no', reason: 'chat_not_found' }),
    catalogue('fa')['refusal.chat_not_found'],
    'a refusal that has a code is translated, too',
  )
  t.match(said('message_refused', { to: '@ada', refusal: 'PEER_FLOOD' }), /PEER_FLOOD/)
  t.equal(said('of_a_later_version', {}), 'as it is', 'unknown ones stay')
  t.equal(persian.fact(null, 'of an older version'), 'of an older version')
  const signedIn = { code: 'signed_in', params: { name: 'Ada (@ada)' } }
  t.equal(english.fact(signedIn, ''), 'Signed in as Ada (@ada)')
})

t.test('one is one, in the panel and in the words of the service', async (t) => {
  const counted = ['polling_beside_webhook', 'other_pollers', 'pending', 'failures'] as const
  for (const code of counted) {
    const of = (count: number) => ({ code, params: { count } })
    t.match(inWords(of(1)), /\b1 (time|update|attempt)\b/, code)
    t.match(inWords(of(2)), /\b2 (times|updates|attempts)\b/, code)
    for (const count of [1, 2]) t.equal(english.fact(of(count), ''), inWords(of(count)), code)
  }
  const dropped = { code: 'dropped', params: { count: 1, at: '2026-03-21T10:00:00.000Z' } } as const
  t.match(inWords(dropped), /^1 update was dropped/)
  t.match(english.fact(dropped, ''), /^1 update was dropped unread at 21 Mar 2026/)
})

t.test('a state is called the same in the panel and in the words of the service', async (t) => {
  for (const state of ['active', 'connecting', 'degraded', 'logged_out', 'invalid', 'failed']) {
    const plain = { code: 'state', params: { state } } as const
    t.equal(english.fact(plain, ''), inWords(plain), state)
    const explained = { code: 'state_explained', params: { state, reason: 'crash_loop' } } as const
    t.equal(english.fact(explained, ''), inWords(explained), state)
    t.notMatch(inWords(explained), /_/, 'no code')
  }
  const deleted = { code: 'credential_deleted', params: {} } as const
  t.equal(english.fact(deleted, ''), inWords(deleted))
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
    for (const { step, evidence, evidence_codes, code } of steps) {
      for (const [place, line] of evidence.entries()) isKnown(t, evidence_codes[place], line, step)
      if (code !== null) t.not(persian.word('diagnosis.fix', code), code.replaceAll('_', ' '), code)
    }
    const sendTo = { send_to: '@said_friend' }
    const path = `/platforms/credentials/${credentialId}/test`
    const { checks } = await client.result('POST', path, sendTo)
    for (const { check, detail, detail_code, code } of checks) {
      if (detail !== '') isKnown(t, detail_code, detail, check)
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

function isKnown(t: Test, sentence: Coded | null, line: string, where: string) {
  t.not(persian.fact(sentence, line), line, `${where}: ${line}`)
}

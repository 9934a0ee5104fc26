/** Refused fields are named in words, each once, and the same way wherever they are judged. */
import t from 'tap'
import { scene } from './scene.ts'

const { client, credentialId, bot } = await scene(t)

const refusal = async (method: string, path: string, body?: unknown) => {
  const answer = await client.ask(method, path, body)
  t.match(answer, { status: 400, body: { ok: false, error_code: 400 } }, path)
  const { description, errors } = answer.body
  if (errors) {
    const [{ field, reason }] = errors
    t.equal(description, `Bad Request: field "${field}" ${reason}`)
  }
  return errors?.map(({ field, reason }: Record<string, string>) => `${field} ${reason}`)
}

t.test('a schema speaks in words', async (t) => {
  const key = { credential_id: credentialId, name: 'x', scopes: ['bot:send'] }
  const refusedKey = (more: object) => refusal('POST', '/api_keys', { ...key, ...more })
  t.same(await refusedKey({ name: '' }), ['name must not be empty'])
  t.same(await refusedKey({ name: ' \t' }), ['name must not be blank'])
  t.same(await refusal('POST', '/user/tokens', { name: ' ' }), ['name must not be blank'])
  const words = 'state must be a word, or several with commas between'
  t.same(await refusal('GET', '/platforms/credentials?state=a,,b'), [words])
  const person = { first_name: 'A', phone: '+16505670002', username: '1abc' }
  t.match(await refusal('POST', '/sandbox/people', person), [/^username must be 4 to 32 letters, /])
  t.match(await refusedKey({ name: 'x'.repeat(5_000) }), [
    /^name must have at most \d+ characters$/,
  ])
  t.same(await refusedKey({ scopes: [] }), ['scopes must have at least 1 item'])
  t.match(await refusedKey({ scopes: ['all'] }), [/^scopes.0 must be one of bot:\w+, /])
  t.same(await refusedKey({ credential_id: 0 }), ['credential_id must be at least 1'])
  t.match(await refusedKey({ expires_at: 'soon' }), [/^expires_at must be a time such as /])
  t.same(await refusedKey({ expires_at: 12 }), ['expires_at must be a string'])
  t.same(await refusal('POST', '/api_keys', []), undefined)
  const phone = { phone: '+14155550123', otp: 'abc' }
  t.same(await refusal('POST', '/auth/login', phone), ['otp must be 6 to 8 digits'])
  t.same(await refusal('GET', '/user/usage?step=year&api_key_id=x'), [
    'step must be one of hour, day',
    'api_key_id must be an integer',
  ])
})

t.test('what no schema can judge is told in the same form', async (t) => {
  t.match(await refusal('GET', '/user/usage?from=1998-12-31T23:59:60Z'), ['from must be a time'])
  t.same(await refusal('GET', '/user/logs/api-requests?api_key_id=1e400'), [
    'api_key_id must be an integer of at most 53 bits',
  ])
  t.match(await refusal('POST', '/auth/sendOtp', { phone: '0912' }), [/^phone must be a phone/])
  const free = { phone: '+18005550199' }
  t.match(await refusal('POST', '/auth/sendOtp', free), [/^phone (is of a kind|must be)/])
  const faults = `/sandbox/people/${bot.id}/faults`
  t.same(await refusal('PUT', `${faults}/delay`, {}), ['milliseconds is required'])
  t.same(await refusal('GET', '/sandbox/people?before=x'), ['before is not a cursor of this list'])
  t.match(await refusal('POST', '/api_keys', { name: 'a\u0000' }), [/^name must not contain /])
})

t.test('whole numbers have at most 53 bits', async (t) => {
  const wide = ['must be an integer of at most 53 bits']
  const inbox = (after: string) => refusal('GET', `/sandbox/people/${bot.id}/inbox?after=${after}`)
  t.same(await inbox('1e308'), [`after ${wide}`])
  const inPath = (chat: string) => refusal('DELETE', `/sandbox/chats/${chat}/members/${bot.id}`)
  t.same(await inPath('1e400'), ['chat must be an integer'])
  t.same(await inPath('9'.repeat(20)), ['chat must be at most 9007199254740991'])
})

t.test('a secret in the place of a name is not repeated', async (t) => {
  const { key } = await client.key(credentialId)
  for (const secret of [key, client.token, bot.phone, `${key}\u0000`]) {
    const reasons = await refusal('POST', '/api_keys', { [secret]: '\u0000' })
    t.equal(reasons?.length, 1)
    t.notMatch(reasons?.[0], secret.slice(-30))
    const unknown = await refusal('PATCH', `/api_keys/${1_000_000}`, { [secret]: 1 })
    t.notMatch(JSON.stringify(unknown), secret.slice(-30))
  }
  const long = await refusal('PATCH', '/api_keys/1', { ['x'.repeat(5_000)]: 1 })
  t.ok(long?.[0] && long[0].length < 150)
})

t.test('U+0000 is in no name, and in no value that is read', async (t) => {
  for (const path of ['/api_keys/%00', `/sandbox/people/${bot.id}/faults/a%00`]) {
    t.match(await client.ask('DELETE', path), { status: 404, body: { ok: false } }, path)
  }
  const why = 'must not contain the character U+0000'
  t.same(await refusal('GET', '/api_keys?before=%00'), [`before ${why}`])
  t.same(await refusal('POST', '/api_keys', { name: '\u0000' }), [`name ${why}`])
})

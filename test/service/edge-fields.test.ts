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
  t.same(await refusal('POST', '/auth/login', phone), ['otp does not have the expected form'])
  t.same(await refusal('GET', '/user/usage?step=year&api_key_id=x'), [
    'step must be one of hour, day',
    'api_key_id must be an integer',
  ])
})

t.test('what no schema can judge is told in the same form', async (t) => {
  t.match(await refusal('GET', '/user/usage?from=1998-12-31T23:59:60Z'), ['from must be a time'])
  t.same(await refusal('GET', '/user/logs/api-requests?api_key_id=1e400'), [
    'api_key_id must be an integer',
  ])
  t.match(await refusal('POST', '/auth/sendOtp', { phone: '0912' }), [/^phone must be a phone/])
  const free = { phone: '+18005550199' }
  t.match(await refusal('POST', '/auth/sendOtp', free), [/^phone (is of a kind|must be)/])
  const faults = `/sandbox/people/${bot.id}/faults`
  t.same(await refusal('PUT', `${faults}/delay`, {}), ['milliseconds is required'])
  t.same(await refusal('GET', '/sandbox/people?before=x'), ['before is not a cursor of this list'])
  t.match(await refusal('POST', '/api_keys', { name: 'a\u0000' }), [/^name must not contain /])
})

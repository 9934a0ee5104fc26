/** Links an account by JID and password: one login tells whether they are right. */
import { randomBytes } from 'node:crypto'
import { failed } from '../../../actors/errors.ts'
import type { LinkAttempt, LinkStep } from '../../../actors/platform.ts'
import { nameOf, parseAddress, parseServer } from './address.ts'
import { endingOf } from './failures.ts'
import { Requests } from './requests.ts'
import { type LoginOptions, loginOf, type Secrets } from './secrets.ts'
import { Stream } from './stream.ts'
import type { Login } from './transport.ts'
import { nicknameOf } from './vcard.ts'

const linkMilliseconds = 25_000

export async function link(
  fields: Readonly<Record<string, string>>,
  options: LoginOptions,
  signal: AbortSignal,
): Promise<LinkAttempt> {
  const secrets = secretsOf(fields, options.allowPrivate)
  const limit = AbortSignal.any([signal, AbortSignal.timeout(linkMilliseconds)])
  const step = await tryLogin(loginOf(secrets, options), secrets, limit)
  signal.throwIfAborted()
  const over = () => Promise.reject(failed('conflict', 'the link has no further step'))
  return { step, answer: over, changed: over, close: async () => undefined }
}

function secretsOf(fields: Readonly<Record<string, string>>, allowPrivate: boolean): Secrets {
  const address = parseAddress(fields.jid?.trim())
  if (!address?.local) {
    throw failed('bad_request', 'field "jid" must be an address such as name@example.org')
  }
  if (!fields.password) throw failed('bad_request', 'field "password" is required')
  const chosen = fields.server?.trim()
  const server = chosen ? parseServer(chosen) : undefined
  if (chosen && (!server || (server.loopback && !allowPrivate))) {
    throw failed('bad_request', 'field "server" must be an address such as xmpps://host:5223')
  }
  return {
    jid: address.bare,
    password: fields.password,
    resource: `chapar-${randomBytes(6).toString('hex')}`,
    ...(server && { server: server.service }),
  }
}

async function tryLogin(login: Login, secrets: Secrets, signal: AbortSignal): Promise<LinkStep> {
  const probe = openProbe(secrets.jid, login)
  try {
    await probe.stream.up(signal)
    const name = await nicknameOf(probe.requests, undefined, signal)
    const account = {
      native: secrets.jid,
      firstName: name ?? nameOf(secrets.jid),
      username: secrets.jid,
    }
    return { kind: 'done', account, secrets: { ...secrets } }
  } catch (cause) {
    return refusal(cause)
  } finally {
    await probe.stream.close()
  }
}

function openProbe(own: string, login: Login) {
  const stream = new Stream(
    { login, resumeMilliseconds: 0 },
    {
      bound: () => undefined,
      resumed: () => undefined,
      stanza: (stanza) => requests.take(stanza),
      acknowledged: () => undefined,
      ended: () => undefined,
    },
  )
  const requests = new Requests(own, (stanza) => stream.send(stanza))
  return { stream, requests }
}

function refusal(cause: unknown): LinkStep {
  const ending = endingOf(cause)
  if (ending.kind === 'revoked') {
    return {
      kind: 'refused',
      reason: 'bad_credentials',
      description: 'the server refused the JID or the password',
    }
  }
  if (ending.kind === 'invalid') {
    const description = 'the server has disabled the account'
    return { kind: 'refused', reason: ending.reason, description }
  }
  if (ending.kind === 'lost' && ending.reason === 'no_encryption') {
    const description = 'the server offers no encrypted connection'
    return { kind: 'refused', reason: ending.reason, description }
  }
  if (ending.kind === 'lost' && ending.reason === 'server_unproven') {
    const description = 'the server did not show that it knows the password'
    return { kind: 'refused', reason: ending.reason, description }
  }
  return {
    kind: 'refused',
    reason: 'unreachable',
    description: 'the server of the JID cannot be reached',
    retryAfterSeconds: 30,
  }
}

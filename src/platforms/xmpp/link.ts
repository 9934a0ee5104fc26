/** Links an account by JID and password: one login tells whether they are right. */

import { randomBytes } from 'node:crypto'
import type { LinkAttempt, LinkStep } from '../../../actors/ports/platform.ts'
import { invalidField, missingField } from '../../../machines/model/failure.ts'
import type { FailureReason, Reason } from '../../../machines/model/reason.ts'
import { linkInOneStep, refused } from '../kit/platform.ts'
import { nameOf, parseAddress, parseServer } from './address.ts'
import { nicknameOf } from './contact.ts'
import { endingOf } from './endings.ts'
import { Requests } from './requests.ts'
import type { StoredKey } from './sasl/scram.ts'
import { type LoginOptions, loginOf, secretsJson, type XmppSecrets } from './secrets.ts'
import { Stream } from './stream.ts'
import type { Login } from './transport.ts'

type Refusal = Extract<LinkStep, { kind: 'refused' }>

export async function link(
  fields: Readonly<Record<string, string>>,
  options: LoginOptions,
  signal: AbortSignal,
): Promise<LinkAttempt> {
  const secrets = secretsOf(fields, options.allowPrivate)
  return linkInOneStep((limit) => tryLogin(secrets, options, limit), signal)
}

function secretsOf(fields: Readonly<Record<string, string>>, allowPrivate: boolean): XmppSecrets {
  const address = parseAddress(fields.jid?.trim())
  if (!address?.local) {
    throw invalidField('jid', 'must be an address such as name@example.org', { reason: 'jid_form' })
  }
  if (!fields.password) throw missingField('password')
  const chosen = fields.server?.trim()
  const server = chosen ? parseServer(chosen) : undefined
  if (chosen && (!server || (server.loopback && !allowPrivate))) {
    throw invalidField('server', 'must be an address such as xmpps://host:5223', {
      reason: 'server_form',
    })
  }
  return {
    jid: address.bare,
    password: fields.password,
    resource: `chapar-${randomBytes(6).toString('hex')}`,
    ...(server && { server: server.service }),
  }
}

async function tryLogin(
  secrets: XmppSecrets,
  options: LoginOptions,
  signal: AbortSignal,
): Promise<LinkStep> {
  let salted: StoredKey | undefined
  const login = loginOf(secrets, options, (key) => {
    salted = key
  })
  const probe = openProbe(secrets.jid, login)
  try {
    await probe.stream.up(signal)
    const name = await nicknameOf(probe.requests, undefined, signal)
    const account = {
      native: secrets.jid,
      firstName: name ?? nameOf(secrets.jid),
      username: secrets.jid,
    }
    return {
      kind: 'done',
      account,
      secrets: secretsJson({ ...secrets, ...(salted && { salted }) }),
    }
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

const TRUST = 'whoever runs this service can have it trusted with NODE_EXTRA_CA_CERTS'

/** Faults of a certificate, by the names of OpenSSL and Node.js. */
const certificates: readonly (readonly [
  code: RegExp,
  description: string,
  reason: FailureReason,
])[] = [
  [
    /SELF_SIGNED/,
    `the certificate of the server is signed by itself; ${TRUST}`,
    'certificate_self_signed',
  ],
  [
    /ISSUER|LEAF_SIGNATURE/,
    `the certificate of the server is signed by somebody unknown; ${TRUST}`,
    'certificate_issuer_unknown',
  ],
  [/EXPIRED|NOT_YET_VALID/, 'the certificate of the server is out of date', 'certificate_outdated'],
  [
    /ALTNAME|HOSTNAME/,
    'the certificate of the server is not for the domain of the JID',
    'certificate_domain',
  ],
]

/** By the reason of the ending; with a time if another try may help. */
const refusals: Readonly<Partial<Record<Reason, Omit<Refusal, 'kind' | 'reason'>>>> = {
  account_deleted: { description: 'the account was deleted' },
  account_disabled: { description: 'the server has disabled the account' },
  no_encryption: { description: 'the server offers no encrypted connection' },
  tls_failed: {
    description:
      'no encrypted connection came about; an address that begins with xmpps:// needs a port of TLS, others xmpp://',
  },
  server_unproven: { description: 'the server did not show that it knows the password' },
  server_moved: { description: 'the server refers to another address; name that as "server"' },
  domain_gone: { description: 'the server does not serve the domain of the JID' },
  login_failed: { description: 'the server offers no way to log in that is known here' },
  login_unavailable: {
    description: 'the server cannot check passwords now',
    retryAfterSeconds: 60,
  },
  policy_violation: {
    description: 'the server refuses logins from here for now',
    retryAfterSeconds: 300,
  },
}

function refusal(cause: unknown): Refusal {
  const ending = endingOf(cause)
  if (ending.kind === 'revoked') {
    return refused('bad_credentials', 'the server refused the JID or the password')
  }
  const reason = ending.kind === 'replaced' ? 'session_conflict' : ending.reason
  if (reason === 'bad_certificate') return distrust(cause)
  const known = refusals[reason]
  if (known) return refused(reason, known.description, known.retryAfterSeconds)
  return refused('unreachable', 'the server of the JID cannot be reached', 30)
}

function distrust(cause: unknown): Refusal {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : ''
  const known = certificates.find(([form]) => form.test(code))
  const [, description = 'the certificate of the server is not to be trusted', reason] = known ?? []
  return { ...refused('bad_certificate', description), ...(reason && { why: { reason } }) }
}

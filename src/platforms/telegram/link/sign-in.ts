/** The last steps of every way of linking: a password if there is one, then the account with its keys. */

import type { tl } from '@mtcute/node'
import type { LinkStep } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { Json } from '../../../../machines/model/protocol.ts'
import { refused } from '../../kit/platform.ts'
import type { TelegramClient } from '../client.ts'
import { endingOf, requestFailure, waitOf, wordOf } from '../failures.ts'
import { identityOf } from '../natives.ts'
import type { SessionStorage } from '../storage/session-storage.ts'

export interface SignIn {
  readonly client: TelegramClient
  readonly storage: SessionStorage
}

export function doneStep(signIn: SignIn, authorization: tl.auth.TypeAuthorization): LinkStep {
  if (authorization._ !== 'auth.authorization' || authorization.user._ !== 'user') {
    return refused('no_account', 'there is no Telegram account with this phone number')
  }
  return accountStep(signIn, authorization.user)
}

function accountStep({ storage }: SignIn, user: tl.RawUser): LinkStep {
  const { keys, home } = storage.secrets
  const secrets = { keys, ...(home !== undefined && { home }) }
  return { kind: 'done', account: identityOf(user), secrets }
}

/** Asks for the second factor, with the hint that its owner chose. */
export async function passwordStep(
  { client }: SignIn,
  stored: () => Json,
  signal: AbortSignal,
): Promise<LinkStep> {
  const { hint } = await client.call({ _: 'account.getPassword' }, { abortSignal: signal })
  return { kind: 'password', stored: stored(), ...(hint && { hint }) }
}

export async function givePassword(
  signIn: SignIn,
  password: string,
  again: () => LinkStep,
  signal: AbortSignal,
): Promise<LinkStep> {
  const { client } = signIn
  const options = { abortSignal: signal }
  try {
    const terms = await client.call({ _: 'account.getPassword' }, options)
    const proof = await client.computeSrpParams(terms, password)
    const given = { _: 'auth.checkPassword', password: proof } as const
    return doneStep(signIn, await client.call(given, options))
  } catch (cause) {
    if (wordOf(cause) === 'PASSWORD_HASH_INVALID') return again()
    return (await signedIn(signIn, cause, signal)) ?? refusalStep(cause)
  }
}

/** Refusals of an answer that the network takes only once: it may have taken it before, and the reply was lost. */
const MAY_BE_TAKEN = ['PHONE_CODE_EXPIRED', 'EMAIL_VERIFY_EXPIRED', 'AUTH_KEY_UNREGISTERED']

/** The last step if this key is signed in all the same; undefined where it is not, or `cause` does not let one think so. */
export async function signedIn(
  signIn: SignIn,
  cause: unknown,
  signal: AbortSignal,
): Promise<LinkStep | undefined> {
  if (!MAY_BE_TAKEN.includes(wordOf(cause) ?? '')) return undefined
  try {
    const [user] = await signIn.client.call(
      { _: 'users.getUsers', id: [{ _: 'inputUserSelf' }] },
      { abortSignal: signal },
    )
    return user?._ === 'user' ? accountStep(signIn, user) : undefined
  } catch (unknown) {
    if (endingOf(unknown)) return undefined
    throw requestFailure(unknown, { readsOnly: true })
  }
}

/** The step for a refusal that ends the flow; after any other failure the flow continues. */
export function refusalStep(cause: unknown): LinkStep {
  const seconds = waitOf(cause)
  if (seconds !== undefined) {
    const description = `Telegram wants to be left alone for ${seconds} seconds`
    const why = { params: { count: seconds } }
    return { ...refused('flood_wait', description, seconds), why }
  }
  switch (wordOf(cause)) {
    case 'PHONE_NUMBER_INVALID':
    case 'PHONE_NUMBER_UNOCCUPIED':
      return refused('no_account', 'there is no Telegram account with this phone number')
    case 'PHONE_NUMBER_BANNED':
    case 'USER_DEACTIVATED':
    case 'USER_DEACTIVATED_BAN':
      return refused('account_banned', 'Telegram has banned this account')
    case 'PHONE_CODE_EXPIRED':
    case 'EMAIL_VERIFY_EXPIRED':
    case 'AUTH_TOKEN_EXPIRED':
    case 'AUTH_KEY_UNREGISTERED':
    // The key is of no use any more: nothing is signed in with it, and nothing can be.
    case 'AUTH_KEY_INVALID':
    case 'AUTH_KEY_DUPLICATED':
    case 'SESSION_REVOKED':
    case 'SESSION_EXPIRED':
      return refused('expired', 'the code is too old')
    case 'PHONE_PASSWORD_FLOOD':
    case 'PHONE_NUMBER_FLOOD':
      return {
        ...refused('too_many_attempts', 'Telegram has seen too many attempts; wait a day'),
        why: { reason: 'wait_a_day' },
      }
    case 'API_ID_INVALID':
    case 'API_ID_PUBLISHED_FLOOD':
      throw failed(
        'bad_gateway',
        'Telegram refuses this service: tell whoever runs it',
        { reason: 'service_refused' },
        { cause },
      )
    default:
      throw requestFailure(cause, { readsOnly: true })
  }
}

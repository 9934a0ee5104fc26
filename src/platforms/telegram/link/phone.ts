/** Links an account by its phone number and the code that Telegram sends there. */
import type { tl } from '@mtcute/node'
import type { LinkAnswer, LinkAttempt, LinkStep } from '../../../../actors/ports/platform.ts'
import { failed, invalidField } from '../../../../machines/model/failure.ts'
import type { Json } from '../../../../machines/model/protocol.ts'
import { fieldsOf, refused } from '../../kit/platform.ts'
import { wordOf } from '../failures.ts'
import {
  doneStep,
  givePassword,
  passwordStep,
  refusalStep,
  type SignIn,
  signedIn,
} from './sign-in.ts'

interface SentCode {
  readonly phone: string
  readonly hash: string
  /** The code came by e-mail, and is checked as such. */
  readonly byEmail: boolean
  readonly step: Omit<LinkStep & { kind: 'code' }, 'stored' | 'wrong' | 'kind'>
}

export class PhoneLink implements LinkAttempt {
  step: LinkStep
  readonly #signIn: SignIn
  #sent: SentCode

  private constructor(signIn: SignIn, sent: SentCode, step: LinkStep) {
    this.#signIn = signIn
    this.#sent = sent
    this.step = step
  }

  static async start(signIn: SignIn, given: string, signal: AbortSignal): Promise<LinkAttempt> {
    const phone = given.replaceAll(/[\s()+-]/g, '')
    if (!/^\d{5,15}$/.test(phone)) {
      throw invalidField('phone', 'must be a phone number with its country code', {
        reason: 'phone_country',
      })
    }
    const sent = { phone, hash: '', byEmail: false, step: { sentVia: '' } }
    const link = new PhoneLink(signIn, sent, { kind: 'code', sentVia: '', stored: null })
    link.step = await link.#send(signal)
    return link
  }

  /** Undefined if another kind of link stored this. */
  static resume(signIn: SignIn, stored: Json): LinkAttempt | undefined {
    const { phone, hash, byEmail, step, hint } = fieldsOf(stored)
    if (typeof phone !== 'string' || typeof hash !== 'string') return undefined
    const code = fieldsOf(step) as SentCode['step'] & { readonly [key: string]: Json }
    const link = new PhoneLink(
      signIn,
      { phone, hash, byEmail: byEmail === true, step: code },
      { kind: 'code', ...code, stored },
    )
    if (typeof hint === 'string') {
      link.step = { kind: 'password', stored, ...(hint && { hint }) }
    }
    return link
  }

  async answer(answer: LinkAnswer, signal: AbortSignal): Promise<LinkStep> {
    this.step = await this.#next(answer, signal)
    return this.step
  }

  changed(): Promise<never> {
    return Promise.reject(failed('conflict', 'the link waits for an answer'))
  }

  async close(): Promise<void> {
    await this.#signIn.client.destroy()
  }

  async #next(answer: LinkAnswer, signal: AbortSignal): Promise<LinkStep> {
    const { step } = this
    switch (answer.kind) {
      case 'resend':
        return this.#resend(signal)
      case 'code':
        return this.#giveCode(answer.code.trim(), signal)
      case 'password': {
        if (step.kind !== 'password') throw failed('conflict', 'the link waits for a code')
        const again = (): LinkStep => ({ ...step, wrong: true })
        return givePassword(this.#signIn, answer.password, again, signal)
      }
    }
  }

  async #send(signal: AbortSignal): Promise<LinkStep> {
    const { client } = this.#signIn
    const { id, hash } = await client.getApiCredentials()
    try {
      const sent = await client.call(
        {
          _: 'auth.sendCode',
          phoneNumber: this.#sent.phone,
          apiId: id,
          apiHash: hash,
          settings: { _: 'codeSettings' },
        },
        { abortSignal: signal },
      )
      return this.#sentStep(sent)
    } catch (cause) {
      return refusalStep(cause)
    }
  }

  async #resend(signal: AbortSignal): Promise<LinkStep> {
    const { phone, hash } = this.#sent
    const request = { _: 'auth.resendCode', phoneNumber: phone, phoneCodeHash: hash } as const
    try {
      const sent = await this.#signIn.client.call(request, { abortSignal: signal })
      return this.#sentStep(sent)
    } catch (cause) {
      if (wordOf(cause) !== 'SEND_CODE_UNAVAILABLE') return refusalStep(cause)
      throw failed('bad_request', 'Telegram knows no further way to send the code', {
        reason: 'no_other_way',
      })
    }
  }

  async #giveCode(code: string, signal: AbortSignal): Promise<LinkStep> {
    const { phone, hash, byEmail } = this.#sent
    const given = { _: 'auth.signIn', phoneNumber: phone, phoneCodeHash: hash } as const
    const proof = byEmail
      ? { emailVerification: { _: 'emailVerificationCode', code } as const }
      : { phoneCode: code }
    try {
      const request = { ...given, ...proof }
      const done = await this.#signIn.client.call(request, { abortSignal: signal })
      return doneStep(this.#signIn, done)
    } catch (cause) {
      switch (wordOf(cause)) {
        case 'PHONE_CODE_INVALID':
        case 'PHONE_CODE_EMPTY':
        case 'CODE_INVALID':
          return { ...this.#codeStep(), wrong: true }
        case 'SESSION_PASSWORD_NEEDED': {
          const step = await passwordStep(this.#signIn, () => this.#stored(), signal)
          if (step.kind !== 'password') return step
          return { ...step, stored: { ...fieldsOf(step.stored), hint: step.hint ?? '' } }
        }
        default:
          return (await signedIn(this.#signIn, cause, signal)) ?? refusalStep(cause)
      }
    }
  }

  #sentStep(sent: tl.auth.TypeSentCode): LinkStep {
    if (sent._ === 'auth.sentCodeSuccess') return doneStep(this.#signIn, sent.authorization)
    if (sent._ === 'auth.sentCodePaymentRequired') {
      return refused('payment_required', 'Telegram sends a code to this number only in its own app')
    }
    const { type, timeout, phoneCodeHash } = sent
    if (type._ === 'auth.sentCodeTypeSetUpEmailRequired') {
      return refused(
        'email_needed',
        'Telegram wants an e-mail address for this account first: name it in its app',
      )
    }
    const byEmail = type._ === 'auth.sentCodeTypeEmailCode'
    const step = {
      ...wayOf(type),
      ...('length' in type && { length: type.length }),
      ...(timeout !== undefined && { resendAfterSeconds: timeout }),
    }
    this.#sent = { ...this.#sent, hash: phoneCodeHash, byEmail, step }
    return this.#codeStep()
  }

  #codeStep(): LinkStep & { kind: 'code' } {
    return { kind: 'code', ...this.#sent.step, stored: this.#stored() }
  }

  #stored(): Json {
    const { phone, hash, byEmail, step } = this.#sent
    const { keys, home } = this.#signIn.storage.secrets
    const session = { keys, ...(home !== undefined && { home }) }
    return { method: 'phone', phone, hash, byEmail, step: { ...step }, session }
  }
}

type SentStep = Pick<LinkStep & { kind: 'code' }, 'sentVia' | 'way'>

const SMS: SentStep = { sentVia: 'SMS', way: { code: 'sms' } }
const CALL_NUMBER: SentStep = {
  sentVia: 'a call from a number whose last digits are the code',
  way: { code: 'call_number' },
}

const ways: Readonly<Record<string, SentStep>> = {
  'auth.sentCodeTypeApp': {
    sentVia: 'a message in the Telegram app',
    way: { code: 'telegram_app' },
  },
  'auth.sentCodeTypeSms': SMS,
  'auth.sentCodeTypeSmsWord': SMS,
  'auth.sentCodeTypeSmsPhrase': SMS,
  'auth.sentCodeTypeFirebaseSms': SMS,
  'auth.sentCodeTypeCall': { sentVia: 'a phone call', way: { code: 'call' } },
  'auth.sentCodeTypeFlashCall': CALL_NUMBER,
  'auth.sentCodeTypeMissedCall': CALL_NUMBER,
  // A name, the same in every language.
  'auth.sentCodeTypeFragmentSms': { sentVia: 'fragment.com' },
}

function wayOf(type: tl.auth.TypeSentCodeType): SentStep {
  if (type._ === 'auth.sentCodeTypeEmailCode') {
    const address = type.emailPattern
    return { sentVia: `e-mail to ${address}`, way: { code: 'email', params: { address } } }
  }
  return ways[type._] ?? { sentVia: 'a message of Telegram', way: { code: 'telegram' } }
}

/** Links an account by a QR code that its owner scans with Telegram on another device. */
import { setTimeout as pause } from 'node:timers/promises'
import type { tl } from '@mtcute/node'
import type { LinkAnswer, LinkAttempt, LinkStep } from '../../../../actors/ports/platform.ts'
import { failed } from '../../../../machines/model/failure.ts'
import type { Json } from '../../../../machines/model/protocol.ts'
import { fieldsOf } from '../../kit/platform.ts'
import { unlessAborted } from '../../kit/session-life.ts'
import { wordOf } from '../failures.ts'
import { doneStep, givePassword, passwordStep, refusalStep, type SignIn } from './sign-in.ts'

/** For so many seconds a code is shown at least and at most: the network renews it after half a minute. */
const SHORTEST = 5
const LONGEST = 60

export class QrLink implements LinkAttempt {
  step: LinkStep = { kind: 'show', form: 'qr', value: '', expiresInSeconds: 0, stored: null }
  readonly #signIn: SignIn
  /** Resolves when the network reports a change after the code was shown. */
  #news = Promise.withResolvers<void>()
  readonly #listen = (update: tl.TypeUpdates) => {
    if (update._ === 'updateShort' && update.update._ === 'updateLoginToken') this.#news.resolve()
  }

  private constructor(signIn: SignIn) {
    this.#signIn = signIn
    signIn.client.onServerUpdate.add(this.#listen)
  }

  static async start(signIn: SignIn, signal: AbortSignal): Promise<LinkAttempt> {
    const link = new QrLink(signIn)
    link.step = await link.#ask(signal)
    return link
  }

  /** Undefined if another kind of link stored this. */
  static async resume(
    signIn: SignIn,
    stored: Json,
    signal: AbortSignal,
  ): Promise<LinkAttempt | undefined> {
    const { method, hint } = fieldsOf(stored)
    if (method !== 'qr') return undefined
    const link = new QrLink(signIn)
    const password = typeof hint === 'string' && { kind: 'password' as const, stored, hint }
    link.step = password || (await link.#ask(signal))
    return link
  }

  async answer(answer: LinkAnswer, signal: AbortSignal): Promise<LinkStep> {
    const { step } = this
    if (answer.kind !== 'password' || step.kind !== 'password') {
      throw failed('conflict', 'the link waits for the QR code to be scanned')
    }
    const again = (): LinkStep => ({ ...step, wrong: true })
    this.step = await givePassword(this.#signIn, answer.password, again, signal)
    return this.step
  }

  async changed(signal: AbortSignal): Promise<LinkStep> {
    const { step } = this
    if (step.kind !== 'show') throw failed('conflict', 'the link waits for an answer')
    await this.#newsOrExpiry(step.expiresInSeconds, signal)
    this.step = await this.#ask(signal)
    return this.step
  }

  async close(): Promise<void> {
    this.#signIn.client.onServerUpdate.remove(this.#listen)
    await this.#signIn.client.destroy()
  }

  async #newsOrExpiry(seconds: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const expiry = pause(seconds * 1000, undefined, { ref: false })
    await unlessAborted(Promise.race([this.#news.promise, expiry]), signal)
  }

  async #ask(signal: AbortSignal): Promise<LinkStep> {
    this.#news = Promise.withResolvers<void>()
    const { client } = this.#signIn
    const { id, hash } = await client.getApiCredentials()
    const options = { abortSignal: signal }
    const request = { _: 'auth.exportLoginToken', apiId: id, apiHash: hash, exceptIds: [] } as const
    try {
      const token = await client.call({ ...request, exceptIds: [] }, options)
      if (token._ !== 'auth.loginTokenMigrateTo') return this.#stepOf(token)
      await client.changePrimaryDc(token.dcId)
      const moved = { _: 'auth.importLoginToken', token: token.token } as const
      return this.#stepOf(await client.call(moved, options))
    } catch (cause) {
      if (wordOf(cause) !== 'SESSION_PASSWORD_NEEDED') return refusalStep(cause)
      const step = await passwordStep(this.#signIn, () => this.#stored(), signal)
      if (step.kind !== 'password') return step
      return { ...step, stored: { ...fieldsOf(step.stored), hint: step.hint ?? '' } }
    }
  }

  async #stepOf(token: tl.auth.TypeLoginToken): Promise<LinkStep> {
    if (token._ === 'auth.loginTokenSuccess') return doneStep(this.#signIn, token.authorization)
    if (token._ === 'auth.loginTokenMigrateTo') {
      throw failed('bad_gateway', 'Telegram sends the link around in circles')
    }
    // The network's clock: where this one is slow, the code would be shown for longer than it counts.
    const now = (await this.#signIn.client.getMtprotoMessageId()).getHighBitsUnsigned()
    return {
      kind: 'show',
      form: 'qr',
      value: `tg://login?token=${Buffer.from(token.token).toString('base64url')}`,
      expiresInSeconds: Math.min(Math.max(SHORTEST, token.expires - now), LONGEST),
      stored: this.#stored(),
    }
  }

  #stored(): Json {
    const { keys, home } = this.#signIn.storage.secrets
    return { method: 'qr', session: { keys, ...(home !== undefined && { home }) } }
  }
}

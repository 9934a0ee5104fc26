/** The operations of a network that speaks the bot API itself: most calls are passed on. */
import type { Handlers, Request } from '../../../actors/ports/platform.ts'
import { failed } from '../../../machines/model/failure.ts'
import type { Happening } from '../../../machines/model/happening.ts'
import type { Passed } from '../../../machines/model/operation-passing.ts'
import { itemSpans, memberSpans, type Span } from '../../json/spans.ts'
import { type BotApiAnswer, type BotApiClient, refusalIn } from './client.ts'
import { passedOn, type Refused } from './failures.ts'
import type { Fields } from './fields.ts'
import { isTooDeep, ownUpdate } from './update.ts'

/** How a network names itself and its methods. */
export interface Naming {
  /** The network's name, for users. */
  readonly name: string
  /** The network's names of methods, by the reference's in lower case, where they differ. */
  readonly methods: Readonly<Record<string, string>>
}

export interface Context extends Request {
  readonly client: Pick<BotApiClient, 'ask' | 'call'>
  readonly flavour: Naming
  /** Called with each refusal, which may concern the account itself. */
  learn(refused: Refused): void
}

export const handlers: Handlers<Context> = {
  async pass(context, call) {
    const { client, flavour, signal, learn } = context
    const { verb, method, query, body } = call
    const path = `${flavour.methods[method.toLowerCase()] ?? method}${query}`
    const answer = await client.ask(
      body
        ? { verb, path, type: body.type, length: body.length, body: body.bytes }
        : { verb, path },
      // A large file takes time; the caller gives up if no bytes move.
      { signal, milliseconds: Number.POSITIVE_INFINITY },
    )
    if (answer.envelope.ok === true) return passedFrom(answer, method)
    const refused = refusalIn(answer)
    learn(refused)
    const failure = passedOn(refused, flavour.name)
    // The caller's API key is valid, but the account behind it is out: so this is no `unauthorized`.
    if (refused.code === 401) throw failure
    const { code, description } = refused
    return { ...passedFrom(answer, method), failure: failure.failure, code, description }
  },

  /** Texts of the service itself. */
  async send({ client, flavour, signal }, { chat, content }) {
    if (content.kind !== 'text') {
      throw failed('bad_request', `${content.kind} is not supported on ${flavour.name}`)
    }
    await client.call('sendMessage', { chat_id: chat, text: content.text }, { signal })
    return { kind: 'done' }
  },
}

function passedFrom({ status, text, envelope }: BotApiAnswer, method: string): Passed {
  return {
    kind: 'passed',
    status,
    text,
    result: () => resultIn(text),
    own: (requestId) => ownUpdates(method, text, envelope.result, requestId),
  }
}

const slice = (text: string, { from, to }: Span) => text.slice(from, to)

function resultIn(text: string): string {
  const result = memberSpans(text).findLast(({ name }) => name === 'result')
  return result ? slice(text, result) : 'true'
}

/** Methods that answer with the messages that they sent or changed. Others may answer with older messages. */
const SENDS = /^(send|forward)/i
const CHANGES = /^(edit|stop|set)/i

function ownUpdates(
  method: string,
  text: string,
  result: unknown,
  requestId: string,
): readonly Happening[] {
  const isChange = CHANGES.test(method)
  if (!isChange && !SENDS.test(method)) return []
  const json = resultIn(text)
  const values = Array.isArray(result) ? result : [result]
  const texts = Array.isArray(result) ? itemSpans(json).map((item) => slice(json, item)) : [json]
  const now = Math.floor(Date.now() / 1000)
  return values.flatMap((value, place) => {
    const written = texts[place] ?? ''
    if (!isMessage(value) || isTooDeep(written)) return []
    const sourceKey = `own:${requestId}${place > 0 ? `:${place}` : ''}`
    return [ownUpdate(written, value, { sourceKey, now, isChange })]
  })
}

const isMessage = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && 'message_id' in value && 'chat' in value

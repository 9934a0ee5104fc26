/** What a session leaves to the one that goes on with its stream in another process: counters, what is unconfirmed, rooms. */
import { type Element, xml } from '@xmpp/client'
import type { Json } from '../../../machines/model/protocol.ts'
import type { SentRequest } from '../kit/sent-requests.ts'
import type { RoomState } from './rooms/room.ts'
import type { Resumption } from './transport.ts'

export interface LeftSession {
  readonly stream: Resumption
  /** Whether the account has an archive. */
  readonly hasArchive: boolean
  /** What it has sent lately. */
  readonly sent: readonly SentRequest[]
  /** The rooms that the account is in. */
  readonly rooms: readonly RoomState[]
}

/** What a node of another version has left in another form is not read. */
const FORM = 1
/** A room may have thousands of people: beyond this many characters, it takes less to log in. */
const LONGEST = 256 * 1024
/** How much the clocks of two nodes may differ. */
const TOLERANCE_SECONDS = 60

type Flat = readonly [name: string, attrs: Element['attrs'], children: readonly (Flat | string)[]]

interface Stored extends Omit<LeftSession, 'stream'> {
  readonly form: number
  /** Unix time in seconds. */
  readonly at: number
  readonly stream: Omit<Resumption, 'outbound_q'>
  readonly unconfirmed: readonly (readonly [stanza: Flat, stamp: string])[]
}

/** Undefined if it is too much to be stored. */
export function leftText({ stream, ...rest }: LeftSession): string | undefined {
  const { outbound_q, ...counters } = stream
  const unconfirmed = outbound_q.map(({ stanza, stamp }) => [flat(stanza), stamp] as const)
  const at = Math.floor(Date.now() / 1000)
  const stored: Stored = { form: FORM, at, stream: counters, unconfirmed, ...rest }
  const text = JSON.stringify(stored)
  return text.length > LONGEST ? undefined : text
}

/** Undefined if the server cannot have the stream any more. */
export function parseLeft(text: Json | undefined): LeftSession | undefined {
  if (typeof text !== 'string') return undefined
  const { form, at, unconfirmed, stream, ...rest }: Stored = JSON.parse(text)
  if (form !== FORM) return undefined
  const max = Number(stream.max ?? Number.POSITIVE_INFINITY)
  if (Date.now() / 1000 > at + max + TOLERANCE_SECONDS) return undefined
  const outbound_q = unconfirmed.map(([stanza, stamp]) => ({ stanza: elementOf(stanza), stamp }))
  return { ...rest, stream: { ...stream, outbound_q, isInherited: true } }
}

/** Of stanzas that were made here, so they are not deep. */
const flat = ({ name, attrs, children }: Element): Flat => [
  name,
  attrs,
  children.map((child) => (typeof child === 'string' ? child : flat(child))),
]

const elementOf = ([name, attrs, children]: Flat): Element =>
  xml(
    name,
    attrs,
    ...children.map((child) => (typeof child === 'string' ? child : elementOf(child))),
  )

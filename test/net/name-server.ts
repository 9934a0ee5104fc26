/** A name server in the hands of its test, over UDP and TCP: it answers each question as it is told, and counts them. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export type Kind = 'A' | 'AAAA' | 'SRV'

export interface Place {
  readonly priority: number
  readonly weight?: number
  /** Empty: the root, by which a domain says that it does not offer the service. */
  readonly host: string
  readonly port: number
}

/** Addresses, or another name with the addresses of that, or the places of a service. Undefined: no answer at all. */
export type Zone = (
  name: string,
  kind: Kind,
) =>
  | {
      readonly alias?: string
      readonly addresses: readonly string[]
      readonly places?: readonly Place[]
    }
  | undefined

export interface NameServer {
  /** As `Resolver.setServers` takes it. */
  readonly address: string
  /** Of one name, in the order in which they came. */
  readonly questions: readonly { readonly name: string; readonly kind: Kind }[]
}

const CNAME = 5
const kinds: Readonly<Record<number, Kind>> = { 1: 'A', 28: 'AAAA', 33: 'SRV' }
/** More than that goes over TCP. */
const LONGEST_DATAGRAM = 512
const TRUNCATED = 0x0200

export async function nameServer(t: Testing, zone: Zone): Promise<NameServer> {
  const questions: { name: string; kind: Kind }[] = []
  const answer = (query: Buffer): Buffer | undefined => {
    const { name, type, end } = questionOf(query)
    const kind = kinds[type]
    if (!kind) return message(query.subarray(0, end), [])
    questions.push({ name, kind })
    const found = zone(name, kind)
    if (!found) return undefined
    const { alias, addresses, places = [] } = found
    const records = [
      ...addresses.map((address) => record(alias ?? name, type, packed(address))),
      ...places.map((place) => record(name, type, placed(place))),
    ]
    if (alias !== undefined) records.unshift(record(name, CNAME, labels(alias)))
    return message(query.subarray(0, end), records)
  }

  const tcp = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', (query) => {
      const whole = answer(query.subarray(2))
      if (!whole) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(whole.length)
      socket.end(Buffer.concat([length, whole]))
    })
  }).listen(0, '127.0.0.1')
  await once(tcp, 'listening')
  const { port } = tcp.address() as AddressInfo

  const udp = createSocket('udp4')
  udp.on('message', (query, from) => {
    const whole = answer(query)
    if (!whole) return
    const isShort = whole.length <= LONGEST_DATAGRAM
    udp.send(isShort ? whole : truncated(query), from.port, from.address)
  })
  udp.bind(port, '127.0.0.1')
  await once(udp, 'listening')
  t.teardown(() => {
    udp.close()
    tcp.close()
  })
  return { address: `127.0.0.1:${port}`, questions }
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const parts: string[] = []
  let at = 12
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    parts.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: parts.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 }
}

/** The question, as it was asked, and the records that answer it. */
function message(question: Buffer, records: readonly Buffer[], flags = 0x8180): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(flags, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(records.length, 6)
  head.writeUInt32BE(0, 8)
  return Buffer.concat([head, ...records])
}

const truncated = (query: Buffer): Buffer =>
  message(query.subarray(0, questionOf(query).end), [], 0x8180 | TRUNCATED)

/** It lives for no time: whoever asks again is answered again. */
function record(name: string, type: number, data: Buffer): Buffer {
  const fixed = Buffer.alloc(10)
  fixed.writeUInt16BE(type, 0)
  fixed.writeUInt16BE(1, 2)
  fixed.writeUInt16BE(data.length, 8)
  return Buffer.concat([labels(name), fixed, data])
}

function placed({ priority, weight = 0, host, port }: Place): Buffer {
  const figures = Buffer.alloc(6)
  figures.writeUInt16BE(priority, 0)
  figures.writeUInt16BE(weight, 2)
  figures.writeUInt16BE(port, 4)
  return Buffer.concat([figures, labels(host)])
}

const labels = (name: string): Buffer =>
  Buffer.concat([
    ...name
      .split('.')
      .filter((part) => part !== '')
      .map((part) => Buffer.concat([Buffer.from([part.length]), Buffer.from(part)])),
    Buffer.from([0]),
  ])

function packed(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number))
  const [head = '', tail] = address.split('::')
  const groups = (text: string) => text.split(':').filter((group) => group !== '')
  const [before, after] = [groups(head), groups(tail ?? '')]
  const zeros = Array<string>(8 - before.length - after.length).fill('0')
  const words = [...before, ...zeros, ...after].map((group) => Number.parseInt(group, 16))
  return Buffer.from(words.flatMap((word) => [word >> 8, word & 255]))
}

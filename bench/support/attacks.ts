/** Calls that cost the service as much as one key may, by what they are. */
import { stillGif } from '../../test/media/still-gif.ts'

export interface Attack {
  readonly name: AttackName
  readonly port: number
  readonly key: string
  readonly chat: number
  readonly milliseconds: number
}

export interface Blow {
  readonly method: string
  readonly type: string
  readonly body: Buffer | string
}

const json = 'application/json'
const withFile = (name: string, chat: number, bytes: Buffer): Blow => {
  const field = (head: string) => `--b\r\ncontent-disposition: form-data; name="${head}\r\n\r\n`
  return {
    method: 'sendAnimation',
    type: 'multipart/form-data; boundary=b',
    body: Buffer.concat([
      Buffer.from(`${field('chat_id"')}${chat}\r\n${field(`animation"; filename="${name}"`)}`),
      bytes,
      Buffer.from('\r\n--b--\r\n'),
    ]),
  }
}
const entities = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, n) => ({ type: 'bold', offset: n, length: 1 })))

/** What is sent again and again, and how many at a time. */
export const attacks = {
  'GIFs of 48,000 megapixels': {
    atOnce: 20,
    blow: (chat: number) => withFile('a.gif', chat, stillGif({ side: 4_000, frames: 3_000 })),
  },
  'GIFs as costly as they may be': {
    atOnce: 20,
    blow: (chat: number) => withFile('a.gif', chat, stillGif({ side: 600, frames: 100 })),
  },
  'multipart bodies without a boundary': {
    atOnce: 50,
    blow: () => ({
      method: 'sendMessage',
      type: 'multipart/form-data',
      body: Buffer.alloc(200_000, 'x'),
    }),
  },
  'calls without an end': {
    atOnce: 200,
    blow: () => ({ method: 'getMe', type: json, body: '{}' }),
  },
  'messages with 10,000 entities': {
    atOnce: 100,
    blow: (chat: number) => ({
      method: 'sendMessage',
      type: json,
      body: `{"chat_id":${chat},"text":"${'x'.repeat(4_000)}","entities":${entities(10_000)}}`,
    }),
  },
  'edits with 10,000 entities': {
    atOnce: 100,
    blow: (chat: number) => ({
      method: 'editMessageText',
      type: json,
      body: `{"chat_id":${chat},"message_id":1,"text":"${'x'.repeat(4_000)}","entities":${entities(10_000)}}`,
    }),
  },
  'JSON of 900 kB': {
    atOnce: 100,
    blow: (chat: number) => ({
      method: 'sendMessage',
      type: json,
      body: `{"chat_id":${chat},"text":"x","reply_markup":{"a":[${'[1],'.repeat(225_000)}1]}}`,
    }),
  },
} satisfies Record<string, { atOnce: number; blow(chat: number): Blow }>

export type AttackName = keyof typeof attacks
export const attackNames = Object.keys(attacks) as AttackName[]

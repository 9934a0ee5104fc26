/** The scene of one bot with one library: its account, people of the sandbox, a group, files, and what each sees. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { film, picture, soundOf } from '../service/files.ts'
import { linkedAccount } from '../service/scene.ts'
import { type Client, until } from '../support/client.ts'
import type { Service } from '../support/service.ts'
import type { BotProcess, Start, Value } from './bot-process.ts'
import { includes } from './includes.ts'
import { type Passages, wordsOf } from './passages.ts'

export interface Person {
  readonly id: number
  readonly first_name: string
  readonly username: string
}

/** Where a file to upload lies, as the protocol names it. */
export interface Upload {
  readonly upload: string
  readonly name: string
}

export type FileName = keyof typeof fileNames
const fileNames = {
  picture: 'picture.jpg',
  other: 'other.jpg',
  document: 'notes.txt',
  song: 'song.mp3',
  voice: 'voice.ogg',
  film: 'film.mp4',
  sticker: 'sticker.webp',
  cup: 'cup.webp',
}

export interface Account {
  readonly client: Client
  readonly me: Person
  readonly ada: Person
  readonly kim: Person
  readonly key: string
  readonly files: Readonly<Record<FileName, Upload>>
}

export async function openAccount(
  service: Service,
  name: string,
  folder: string,
): Promise<Account> {
  const { client, bot, ada, key } = await linkedAccount(service, name)
  const kim = await client.person('Kim', `${name}_kim`)
  return { client, me: bot, ada, kim, key, files: await writeFiles(folder) }
}

async function writeFiles(folder: string): Promise<Account['files']> {
  await mkdir(folder, { recursive: true })
  const bytes: Readonly<Record<FileName, Buffer>> = {
    picture: await picture(),
    other: await picture(200, 200, '#cc3322'),
    document: Buffer.from('Take notes.\n'),
    song: soundOf.mp3,
    voice: soundOf.ogg,
    film,
    sticker: await picture(512, 512),
    cup: await picture(512, 512, '#885522'),
  }
  const uploads = Object.entries(fileNames).map(async ([kind, name]) => {
    const path = join(folder, name)
    await writeFile(path, bytes[kind as FileName])
    return [kind, { upload: path, name }] as const
  })
  return Object.fromEntries(await Promise.all(uploads)) as Account['files']
}

/** What became of messages around a restart, and of one whose answer was lost. */
export interface Doubles {
  /** Updates that were handed over once more after they had been taken. */
  received: number
  /** Messages that were to be sent. */
  sent: number
  /** Of these: arrived more than once. */
  arrived: number
  /** Of these: given up by the program while the service was away. */
  abandoned: number
  /** How often the program sends again what was sent, when the answer got lost. */
  repeated: number
}

export class Stage {
  readonly doubles: Doubles = { received: 0, sent: 0, arrived: 0, abandoned: 0, repeated: 0 }
  readonly passages: Passages
  readonly bot: BotProcess
  readonly account: Account
  readonly start: Start
  readonly restart: () => Promise<void>
  #group: Promise<number> | undefined

  constructor(
    bot: BotProcess,
    account: Account,
    start: Start,
    { passages, restart }: Pick<Stage, 'passages' | 'restart'>,
  ) {
    this.bot = bot
    this.account = account
    this.start = start
    this.passages = passages
    this.restart = restart
  }

  call(method: string, parameters: object = {}): Promise<Value> {
    return this.bot.call(method, parameters)
  }

  /** To Ada. */
  send(method: string, parameters: object = {}): Promise<Value> {
    return this.call(method, { chat_id: this.account.ada.id, ...parameters })
  }

  /** Ada writes to the bot; resolves with her message. */
  write(content: string | object): Promise<Value> {
    const { client, ada, me } = this.account
    const body = typeof content === 'string' ? { text: content } : content
    return client.result('POST', `/sandbox/people/${ada.id}/messages`, { to: me.id, ...body })
  }

  /** What Ada sees of the bot, newest first. */
  async seen(): Promise<Value> {
    const { client, ada, me } = this.account
    return client.result('GET', `/sandbox/people/${ada.id}/inbox?chat=${me.id}`)
  }

  /** How many messages with these words Ada sees. */
  async timesSeen(words: string): Promise<number> {
    const { messages } = await this.seen()
    return messages.filter(({ text, from }: Value) => {
      return from.id === this.account.me.id && wordsOf(words).test(text ?? '')
    }).length
  }

  /** A message that Ada sees. */
  sees(wanted: object, patience = 10_000): Promise<Value> {
    return until(
      async () => (await this.seen()).messages.find((shown: Value) => includes(shown, wanted)),
      patience,
    ).catch(async () => {
      const { messages } = await this.seen()
      const shown = JSON.stringify(messages.slice(0, 2))
      throw new Error(`Ada sees no message with ${JSON.stringify(wanted)}, but ${shown}`)
    })
  }

  /** Does something in Ada's name with a message of her chat with the bot. */
  asAda(verb: string, path: string, body?: object): Promise<Value> {
    const { client, ada } = this.account
    return client.result(verb, `/sandbox/people/${ada.id}${path}`, body)
  }

  /** A supergroup that the bot owns and Ada is in. */
  group(): Promise<number> {
    this.#group ??= this.newGroup({ title: 'Group', members: [this.account.ada.id] })
    return this.#group
  }

  async newGroup(more: object): Promise<number> {
    const { client, me } = this.account
    const chat = { kind: 'supergroup', owner: me.id, ...more }
    return (await client.result('POST', '/sandbox/chats', chat)).id
  }
}

/** What the suites of libraries take for granted: a bot, people, chats, and files at addresses. */
import { readFile } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { RIGHTS } from '../../../machines/model/rights.ts'
import { callWithFiles, picture } from '../../service/files.ts'
import { linkedAccount } from '../../service/scene.ts'
import { listen, urlOf } from '../../support/http-server.ts'
import type { Service } from '../../support/service.ts'

interface Testing {
  teardown(work: () => Promise<void> | void): void
}

export type Scene = Awaited<ReturnType<typeof openScene>>

/** Anything, because tests look into it without a schema. */
type Value = ReturnType<typeof JSON.parse>

const dummyPdf = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n')

/** `name` is the bot's, as its suite expects it. Ada owns all chats, and the bot administers them. */
export async function openScene(t: Testing, service: Service, name: string) {
  const { client, bot, ada: friend, key } = await linkedAccount(service, name)
  const more = { language_code: 'en' }
  const ada = await client.person('Ada', `${name}_ada`, more)
  const kim = await client.person('Kim', `${name}_kim`, more)
  const write = (to: number, content: object, from: number = ada.id): Promise<Value> =>
    client.result('POST', `/sandbox/people/${from}/messages`, { to, ...content })
  const chat = async (terms: object): Promise<number> => {
    const made = await client.result('POST', '/sandbox/chats', {
      kind: 'supergroup',
      title: 'Suite',
      owner: ada.id,
      members: [kim.id],
      ...terms,
    })
    await client.result('PUT', `/sandbox/chats/${made.id}/members/${bot.id}`, {
      role: 'admin',
      rights: RIGHTS,
    })
    return made.id
  }
  const call = async (method: string, parameters: object): Promise<Value> => {
    const { body } = await client.bot(key, method, parameters)
    if (!body.ok) throw new Error(`${method}: ${body.description}`)
    return body.result
  }
  /** A set of one static sticker, which the bot makes for somebody. */
  const newStickerSet = async (set: string, owner: number, path: string, more: object = {}) => {
    const stickers = [{ sticker: 'attach://sticker', format: 'static', emoji_list: ['🙂'] }]
    const terms = { user_id: owner, name: set, title: 'Set', stickers, ...more }
    const files = { sticker: { bytes: await readFile(path), name: basename(path) } }
    const { body } = await callWithFiles(service.url, key, 'createNewStickerSet', terms, files)
    if (!body.ok) throw new Error(`createNewStickerSet: ${body.description}`)
  }
  /** The key of another bot, an ordinary member of the chat. */
  const memberKey = async (chat: number): Promise<string> => {
    const other = await client.person('Other', `${name}_other`)
    const linked = await client.link(other)
    await client.result('PUT', `/sandbox/chats/${chat}/members/${other.id}`, { role: 'member' })
    return (await client.key(linked)).key
  }
  // Whoever a bot writes to has begun the conversation.
  await write(bot.id, { text: '/start' })
  const served = new Map<string, Buffer>([['.pdf', dummyPdf]])
  const server = await listen(t, async (request, response) => {
    const path = (request.url ?? '/').split('?')[0] ?? ''
    const bytes = served.get(extname(path)) ?? (await pictureAt(path))
    response.writeHead(200, { 'content-type': TYPES[extname(path)] ?? 'image/jpeg' }).end(bytes)
  })
  const files = urlOf(server)
  const people = { bot, ada, kim, friend }
  const makers = { chat, newStickerSet, memberKey }
  return { service, client, key, ...people, ...makers, write, call, files, served }
}

const TYPES: Readonly<Record<string, string>> = {
  '.pdf': 'application/pdf',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
}

/** `/640/480` is a picture of that size. */
async function pictureAt(path: string): Promise<Buffer> {
  const [, width, height] = /\/(\d+)\/(\d+)/.exec(path) ?? []
  return picture(Number(width ?? 640), Number(height ?? 480))
}

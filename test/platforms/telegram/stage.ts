/** The network of the Telegram tests, and the platform in front of it, over a database of its own. */
import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import type { tl } from '@mtcute/core'
import type { Test } from 'tap'
import type { Content } from '../../../machines/model/content.ts'
import type { Media, MediaKind } from '../../../machines/model/media.ts'
import type { OpenBlob } from '../../../src/media/media.ts'
import { type TelegramOptions, telegramPlatform } from '../../../src/platforms/telegram/platform.ts'
import { attributesOf, locationOf } from '../../../src/platforms/telegram/writing/media.ts'
import { inputPollOf } from '../../../src/platforms/telegram/writing/poll.ts'
import { testDatabase } from '../../support/database.ts'
import { quietLogger } from '../../support/logger.ts'
import { documentOf, mediaOf, photoOf } from '../../support/telegram-dc/media.ts'
import { TelegramNetwork } from '../../support/telegram-dc/network.ts'

export const application = { id: 12_345, hash: 'hash of the application' }

export class Stage {
  readonly network: TelegramNetwork
  readonly db: TelegramOptions['db']
  /** What waits in the gateway's store to be sent. */
  readonly blobs = new Map<string, { open(): OpenBlob; readonly bytes: Buffer }>()
  readonly #options: TelegramOptions

  private constructor(network: TelegramNetwork, options: Omit<TelegramOptions, 'media'>) {
    this.network = network
    this.db = options.db
    this.#options = { ...options, media: { open: async (blob) => this.#open(blob) } }
  }

  static async start(t: Test): Promise<Stage> {
    const { database: db } = await testDatabase(t)
    const network = await TelegramNetwork.start(t)
    t.teardown(() => {
      if (network.defects.length > 0) throw new AggregateError(network.defects)
    })
    return new Stage(network, { db, application, logger: quietLogger, entrance: network.entrance })
  }

  platform(options: Partial<TelegramOptions> = {}) {
    return telegramPlatform({ ...this.#options, ...options })
  }

  /** A file that waits in the gateway's store. */
  file(kind: MediaKind, bytes: Buffer): Media {
    const blob = randomUUID()
    const mime = kind === 'photo' ? 'image/jpeg' : 'application/octet-stream'
    const open = () => ({ stream: Readable.from([bytes]), size: bytes.length, mime })
    this.blobs.set(blob, { open, bytes })
    return { kind, file: { blob }, size: bytes.length, mime }
  }

  /** What somebody else sends who has the same files. */
  outgoing(content: Content): { readonly text: string; readonly media: tl.TypeMessageMedia } {
    const { files } = this.network
    if (content.kind !== 'media') return { text: '', media: mediaOf(files, inputOf(content)) }
    const { media, caption } = content
    if (!('blob' in media.file)) throw new Error('the file is no blob')
    const stored = files.add(this.blobs.get(media.file.blob)?.bytes ?? Buffer.alloc(0))
    if (media.kind === 'photo') {
      return {
        text: caption.text,
        media: { _: 'messageMediaPhoto', photo: photoOf(files, stored) },
      }
    }
    const about = { mimeType: media.mime ?? '', attributes: attributesOf(media) }
    const document = documentOf(files, stored, about)
    return { text: caption.text, media: { _: 'messageMediaDocument', document } }
  }

  #open(blob: string): OpenBlob {
    const found = this.blobs.get(blob)
    if (!found) throw new Error(`there is no blob ${blob}`)
    return found.open()
  }
}

function inputOf(content: Content): tl.TypeInputMedia {
  switch (content.kind) {
    case 'location':
      return locationOf(content)
    case 'contact': {
      const { phone: phoneNumber, firstName } = content
      return { _: 'inputMediaContact', phoneNumber, firstName, lastName: '', vcard: '' }
    }
    case 'poll':
      return inputPollOf(content.poll)
    case 'dice':
      return { _: 'inputMediaDice', emoticon: content.emoji }
    default:
      throw new Error(`${content.kind} has no media`)
  }
}

/** Contents of messages: in the form that is sent, and as readers see them. */

import type { Buttons } from '../../../machines/model/buttons.ts'
import { type Content, type ContentName, contentName } from '../../../machines/model/content.ts'
import { failed, messageTooLong } from '../../../machines/model/failure.ts'
import type { Media } from '../../../machines/model/media.ts'
import type { Text } from '../../../machines/model/text.ts'
import { wrongFile } from '../kit/failures.ts'
import { contactElement, writeContact } from './contact.ts'
import { type LocationContent, locationElement, writeLocation } from './location.ts'
import { isLink } from './media/shared.ts'
import type { HttpUploads } from './media/uploads.ts'
import { readStyled } from './styling/read.ts'
import { writeStyled } from './styling/write.ts'
import type { Body } from './writing.ts'

/** The contents that can be sent. */
export const SUPPORTED: readonly ContentName[] = [
  'text',
  'photo',
  'video',
  'animation',
  'audio',
  'voice',
  'document',
  'location',
  'venue',
  'contact',
]

/** The size of a stanza in bytes sets a limit too: `writing.ts` refuses a shorter text that is too large. */
export const TEXT_LENGTH = 65_536

export interface Written extends Body {
  readonly shown: Content
}

export interface Carried {
  readonly content: Content
  readonly buttons?: Buttons
}

type MediaContent = Content & { readonly kind: 'media' }

/** Uploads what is not on the network yet. `requestId`: a repetition uploads nothing twice. */
export async function written(
  { content, buttons }: Carried,
  uploads: HttpUploads,
  requestId: string,
  signal: AbortSignal,
): Promise<Written> {
  const name = contentName(content)
  if (!SUPPORTED.some((able) => able === name)) {
    // A file that is on the network already is sent as its link. A live photo would lose its film.
    const file = content.kind === 'media' && !content.media.live && content.media.file
    if (!file || !('native' in file) || !isLink(file.native)) {
      throw failed('bad_request', `${name} is not supported on XMPP`)
    }
  }
  if (buttons?.length) throw failed('bad_request', 'buttons are not supported on XMPP')
  switch (content.kind) {
    case 'text':
      return writtenText(content)
    case 'media': {
      const media = await uploads.native(asShown(content.media), requestId, signal)
      return writtenFile({ ...content, media })
    }
    case 'location':
      return writtenPlace(content)
    case 'contact': {
      const { vcard: _, person: _person, ...shown } = content
      const extras = [contactElement(shown)]
      return { body: writeContact(shown), isStyled: false, extras, shown }
    }
    default:
      throw failed('bad_request', `${name} is not supported on XMPP`)
  }
}

function writtenText(content: Text): Written {
  const { body, isStyled, shown } = styled(content)
  if (body.length > TEXT_LENGTH) {
    throw messageTooLong()
  }
  return { body, isStyled, shown: { kind: 'text', ...shown } }
}

/** One message: the link first, for clients that show a file there, and the caption after it. */
function writtenFile(content: MediaContent): Written {
  const { media } = content
  if (!('native' in media.file) || !isLink(media.file.native)) {
    throw wrongFile()
  }
  const link = media.file.native
  const { body: words, isStyled, shown: caption } = styled(content.caption)
  const body = words ? `${link}\n${words}` : link
  const shown = { kind: 'media', media, caption } as const
  return { body, isStyled, shared: { link, media }, shown }
}

function writtenPlace({
  latitude,
  longitude,
  accuracy,
  liveSeconds,
  venue,
}: LocationContent): Written {
  if (liveSeconds !== undefined) {
    throw failed('bad_request', 'a live location is not supported on XMPP')
  }
  const shown: LocationContent = {
    kind: 'location',
    latitude,
    longitude,
    ...(accuracy !== undefined && { accuracy }),
    ...(venue && { venue: { title: venue.title, address: venue.address } }),
  }
  const body = writeLocation(shown)
  return { body, isStyled: false, extras: [locationElement(shown)], shown }
}

/** Only GIFs are shown as animations. */
function asShown(media: Media): Media {
  const isGif = (media.mime ?? 'image/gif') === 'image/gif'
  return media.kind === 'animation' && !isGif ? { ...media, kind: 'video' } : media
}

function styled(source: Text) {
  const body = writeStyled(source)
  const read = readStyled(body)
  // Plain text that looks like styling is marked as unstyled.
  const isStyled = source.entities.length > 0 && read.entities.length > 0
  return { body, isStyled, shown: isStyled ? read : { text: body, entities: [] } }
}

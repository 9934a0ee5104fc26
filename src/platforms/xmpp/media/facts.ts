/** What is told of a shared file besides its link: its type, size, measures and thumbnail (XEP-0446, XEP-0447). */
import { type Element, xml } from '@xmpp/client'
import type { Media } from '../../../../machines/model/content.ts'
import { ns } from '../namespaces.ts'
import { isLink } from './links.ts'

type Facts = Pick<
  Media,
  'name' | 'mime' | 'size' | 'width' | 'height' | 'durationSeconds' | 'thumbnail'
>

export function fileSharing(link: string, media: Media): Element {
  const { kind, name, mime, size, width, height, durationSeconds } = media
  const fact = (element: string, value: string | number | undefined) =>
    value !== undefined && xml(element, {}, String(value))
  return xml(
    'file-sharing',
    { xmlns: ns.fileSharing, disposition: kind === 'document' ? 'attachment' : 'inline' },
    xml(
      'file',
      ns.fileFacts,
      fact('media-type', mime),
      fact('name', name),
      fact('size', size),
      fact('width', width),
      fact('height', height),
      fact('length', durationSeconds && Math.round(durationSeconds * 1000)),
      thumbnail(media.thumbnail),
    ),
    xml('sources', {}, xml('url-data', { xmlns: ns.urlData, target: link })),
  )
}

function thumbnail(media: Media | undefined): Element | false {
  if (!media || !('native' in media.file)) return false
  const { file, mime = 'image/jpeg', width, height } = media
  const attributes = { xmlns: ns.thumbnails, uri: file.native, 'media-type': mime, width, height }
  return xml('thumbnail', attributes)
}

const measures = (width: number | undefined, height: number | undefined) => ({
  ...(width && { width }),
  ...(height && { height }),
})

/** The sender's own words; what cannot be is left out. */
export function readFacts(sharing: Element | undefined): Facts {
  const file = sharing?.getChild('file', ns.fileFacts)
  if (!file) return {}
  const text = (element: string) => file.getChildText(element)?.trim() || undefined
  const whole = (value: string | undefined) =>
    /^\d{1,15}$/.test(value ?? '') ? Number(value) : undefined
  const name = text('name')?.slice(0, 255)
  const mime = text('media-type')?.toLowerCase()
  const size = whole(text('size'))
  const width = whole(text('width'))
  const height = whole(text('height'))
  const length = whole(text('length'))
  const small = file.getChild('thumbnail', ns.thumbnails)?.attrs
  return {
    ...(name && { name }),
    ...(mime && /^[\w.+-]{1,60}\/[\w.+-]{1,90}$/.test(mime) && { mime }),
    ...(size !== undefined && { size }),
    ...measures(width, height),
    ...(length !== undefined && { durationSeconds: Math.round(length / 1000) }),
    ...(isLink(small?.uri) && {
      thumbnail: {
        kind: 'photo',
        file: { native: small.uri },
        mime: 'image/jpeg',
        ...measures(whole(small.width), whole(small.height)),
      },
    }),
  }
}

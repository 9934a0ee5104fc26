/** What the network is told of a file, so that clients show it as what it is. */
import type { tl } from '@mtcute/node'
import type { Media } from '../../../../machines/model/content.ts'

export function attributesOf(media: Media): tl.TypeDocumentAttribute[] {
  const named: tl.TypeDocumentAttribute[] = media.name
    ? [{ _: 'documentAttributeFilename', fileName: media.name }]
    : []
  return [...ofKind(media), ...named]
}

function ofKind(media: Media): tl.TypeDocumentAttribute[] {
  const { durationSeconds: duration = 0, width: w = 0, height: h = 0 } = media
  switch (media.kind) {
    case 'video':
      return [{ _: 'documentAttributeVideo', supportsStreaming: true, duration, w, h }]
    case 'video_note':
      return [{ _: 'documentAttributeVideo', roundMessage: true, duration, w, h }]
    case 'animation':
      return [
        { _: 'documentAttributeVideo', nosound: true, duration, w, h },
        { _: 'documentAttributeAnimated' },
      ]
    case 'audio':
      return [
        {
          _: 'documentAttributeAudio',
          duration,
          ...(media.title !== undefined && { title: media.title }),
          ...(media.performer !== undefined && { performer: media.performer }),
        },
      ]
    case 'voice':
      return [{ _: 'documentAttributeAudio', voice: true, duration }]
    case 'sticker':
      return [
        {
          _: 'documentAttributeSticker',
          alt: media.emoji ?? '',
          stickerset: { _: 'inputStickerSetEmpty' },
        },
        { _: 'documentAttributeImageSize', w: w || 512, h: h || 512 },
      ]
    default:
      return []
  }
}

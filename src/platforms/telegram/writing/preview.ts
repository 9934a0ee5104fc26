/** The link preview of a text in the network's terms. */
import type { tl } from '@mtcute/node'
import type { Content } from '../../../../machines/model/content.ts'
import type { Text } from '../../../../machines/model/text.ts'

interface Shown {
  readonly noWebpage?: true
  readonly invertMedia?: true
  /** Present when the sender chooses the page or the size of the preview. */
  readonly media?: tl.RawInputMediaWebPage
}

export function previewOf(content: Content & { readonly kind: 'text' }): Shown {
  const { isOff, url, size, isAbove } = content.preview ?? {}
  if (isOff) return { noWebpage: true }
  const page = url ?? (size && firstLink(content))
  return {
    ...(isAbove && { invertMedia: true }),
    ...(page !== undefined && {
      media: {
        _: 'inputMediaWebPage',
        url: page,
        // If the page has no preview, the text is sent without one.
        optional: true,
        ...(size === 'large' && { forceLargeMedia: true }),
        ...(size === 'small' && { forceSmallMedia: true }),
      },
    }),
  }
}

function firstLink({ text, entities }: Text): string | undefined {
  const [first] = entities
    .filter(({ type }) => type === 'url' || type === 'text_link')
    .sort((one, other) => one.offset - other.offset)
  return first && (first.url ?? text.slice(first.offset, first.offset + first.length))
}

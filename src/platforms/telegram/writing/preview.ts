/** What of a linked page is to be shown with a text, in the network's terms. */
import type { tl } from '@mtcute/node'
import type { Content, Text } from '../../../../machines/model/content.ts'

interface Shown {
  readonly noWebpage?: true
  readonly invertMedia?: true
  /** Where it is to be another page than the network would choose, or of a certain size. */
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
        // Without a page the text goes alone.
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

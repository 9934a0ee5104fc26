/** A rich message: each block as an element of its own. Nothing a bot writes becomes markup. */
import { type CSSProperties, createElement, type ReactNode } from 'react'
import type { RichCaption, RichText } from '../../../../machines/model/rich.ts'
import type { RichBlockBody } from '../../../http/sandbox/content-schemas.ts'
import type { Message } from '../../api/sandbox.ts'
import { Attachment } from './attachment.tsx'
import { Outside } from './rich-text.tsx'

export function RichBlocks({ rich }: { readonly rich: NonNullable<Message['rich']> }) {
  return (
    <div className="rich" dir={rich.is_rtl ? 'rtl' : 'auto'}>
      <Blocks blocks={rich.blocks} />
    </div>
  )
}

const Blocks = ({ blocks = [] }: { readonly blocks?: readonly RichBlockBody[] | undefined }) =>
  placed(blocks).map(([place, block]) => <Block key={place} block={block} />)

/** Blocks may repeat: each is known by its place. */
const placed = <Item,>(items: readonly Item[]): readonly (readonly [string, Item])[] =>
  items.map((item, place) => [`${place}`, item])

type BlockOf = (props: { readonly block: RichBlockBody }) => ReactNode

const Quote: BlockOf = ({ block }) => (
  <blockquote>
    {block.text !== undefined && <Words text={block.text} />}
    <Blocks blocks={block.blocks} />
    {block.credit !== undefined && (
      <cite className="quiet small">
        — <Words text={block.credit} />
      </cite>
    )}
  </blockquote>
)

const List: BlockOf = ({ block }) => (
  <ul>
    {placed(block.items ?? []).map(([place, item]) => (
      <li key={place}>
        <span className="quiet">
          {item.has_checkbox ? (item.is_checked ? '☑' : '☐') : item.label}
        </span>
        <div>
          <Blocks blocks={item.blocks} />
        </div>
      </li>
    ))}
  </ul>
)

const Table: BlockOf = ({ block }) => (
  <table>
    {block.caption !== undefined && (
      <caption className="quiet small">
        <Words text={block.caption as RichText} />
      </caption>
    )}
    <tbody>
      {placed(block.cells ?? []).map(([y, row]) => (
        <tr key={y}>
          {placed(row).map(([x, cell]) =>
            createElement(
              cell.is_header ? 'th' : 'td',
              {
                key: x,
                colSpan: cell.colspan,
                rowSpan: cell.rowspan,
                style: { textAlign: cell.align } as CSSProperties,
              },
              <Words text={cell.text} />,
            ),
          )}
        </tr>
      ))}
    </tbody>
  </table>
)

const Gallery: BlockOf = ({ block }) => (
  <figure className="gallery">
    <Blocks blocks={block.blocks} />
    <Caption caption={block.caption} />
  </figure>
)

const PlaceOnMap: BlockOf = ({ block: { location, caption } }) => {
  const { latitude = 0, longitude = 0 } = location ?? {}
  const address = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}`
  return (
    <figure>
      <Outside address={address} className="ltr">{`${latitude}, ${longitude}`}</Outside>
      <Caption caption={caption} />
    </figure>
  )
}

const Code: BlockOf = ({ block }) => (
  <pre className="ltr">
    <code>
      <Words text={block.text ?? block.expression} />
    </code>
  </pre>
)

const nothing: BlockOf = () => null

const BLOCKS: Readonly<Record<string, BlockOf>> = {
  // The levels below those of the page and of the chat.
  heading: ({ block }) =>
    createElement(
      `h${Math.min(Math.max(block.size ?? 1, 1) + 2, 6)}`,
      {},
      <Words text={block.text} />,
    ),
  pre: Code,
  mathematical_expression: Code,
  footer: ({ block }) => (
    <p className="quiet small">
      <Words text={block.text} />
    </p>
  ),
  thinking: ({ block }) => (
    <p className="quiet">
      <em>
        <Words text={block.text} />
      </em>
    </p>
  ),
  divider: () => <hr />,
  anchor: nothing,
  /** They stand below the message with its other buttons. */
  buttons: nothing,
  list: List,
  blockquote: Quote,
  expandable_blockquote: Quote,
  pullquote: Quote,
  collage: Gallery,
  slideshow: Gallery,
  table: Table,
  details: ({ block }) => (
    <details open={block.is_open === true}>
      <summary>
        <Words text={block.summary} />
      </summary>
      <Blocks blocks={block.blocks} />
    </details>
  ),
  map: PlaceOnMap,
}

const Shown: BlockOf = ({ block }) =>
  block.media ? (
    <figure>
      <Attachment media={block.media} />
      <Caption caption={block.caption} />
    </figure>
  ) : (
    <p>
      <Words text={block.text} />
    </p>
  )

function Block({ block }: { readonly block: RichBlockBody }) {
  return createElement(BLOCKS[block.type] ?? Shown, { block })
}

function Caption({ caption }: { readonly caption: RichText | RichCaption | undefined }) {
  if (caption === undefined) return null
  const isBoth = typeof caption === 'object' && !Array.isArray(caption) && !('type' in caption)
  const { text, credit } = (isBoth ? caption : { text: caption }) as RichCaption
  return (
    <figcaption className="quiet small">
      <Words text={text} />
      {credit !== undefined && (
        <cite>
          {' — '}
          <Words text={credit} />
        </cite>
      )}
    </figcaption>
  )
}

type Piece = Exclude<RichText, string | readonly RichText[]>

/** How pieces of text look; the others look like plain words. */
const TAGS: Readonly<Record<string, string>> = {
  bold: 'strong',
  italic: 'em',
  underline: 'u',
  strikethrough: 's',
  subscript: 'sub',
  superscript: 'sup',
  marked: 'mark',
  code: 'code',
}

const NAMED = /^(mention|text_mention|hashtag|cashtag|bot_command|button)$/

function Words({ text }: { readonly text: RichText | undefined }): ReactNode {
  if (text === undefined || typeof text === 'string') return text
  if (Array.isArray(text)) {
    return placed(text as readonly RichText[]).map(([place, one]) => (
      <Words key={place} text={one} />
    ))
  }
  return <PieceOf piece={text as Piece} />
}

function PieceOf({ piece }: { readonly piece: Piece }): ReactNode {
  const { type, text, url, expression, alternative_text, button } = piece
  const tag = TAGS[type]
  if (tag) return createElement(tag, {}, <Words text={text} />)
  if (type === 'url') {
    return (
      <Outside address={`${url}`}>
        <Words text={text} />
      </Outside>
    )
  }
  if (type === 'mathematical_expression') return <code>{`${expression}`}</code>
  if (type === 'custom_emoji') return `${alternative_text ?? '⭐'}`
  const words = type === 'button' ? (button as { readonly text?: RichText }).text : text
  const look = type === 'spoiler' ? 'spoiler' : NAMED.test(type) ? 'named' : undefined
  return (
    <span className={look}>
      <Words text={words} />
    </span>
  )
}

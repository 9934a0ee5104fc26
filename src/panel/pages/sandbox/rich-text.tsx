/** Text with its formatting. If entities overlap, each stretch has all of its entities. */
import type { ReactNode } from 'react'
import type { Entity } from '../../api/sandbox.ts'
import { CustomEmoji } from './attachment.tsx'
import { isSandboxLink, SandboxLink } from './links.tsx'

interface RichTextProps {
  readonly text: string
  readonly entities?: readonly Entity[] | undefined
}

export function RichText({ text, entities = [] }: RichTextProps) {
  const cuts = new Set([0, text.length])
  for (const { offset, length } of entities) cuts.add(offset).add(offset + length)
  const places = [...cuts].filter((cut) => cut <= text.length).sort((a, b) => a - b)
  return (
    <span className="text" dir="auto">
      {places.slice(1).map((end, index) => {
        const start = places[index] ?? 0
        const part = text.slice(start, end)
        const here = entities.filter(
          ({ offset, length }) => offset <= start && offset + length >= end,
        )
        return (
          <span key={start}>
            {here.reduceRight<ReactNode>((inner, entity) => formatted(entity, inner, part), part)}
          </span>
        )
      })}
    </span>
  )
}

function formatted(
  { type, url, custom_emoji_id: emoji }: Entity,
  inner: ReactNode,
  part: string,
): ReactNode {
  switch (type) {
    case 'bold':
      return <strong>{inner}</strong>
    case 'italic':
      return <em>{inner}</em>
    case 'underline':
      return <u>{inner}</u>
    case 'strikethrough':
      return <s>{inner}</s>
    case 'code':
    case 'pre':
      return <code>{inner}</code>
    case 'spoiler':
      return <span className="spoiler">{inner}</span>
    case 'custom_emoji':
      return <CustomEmoji id={emoji}>{inner}</CustomEmoji>
    case 'text_link':
    case 'url':
      return <Outside address={url ?? part}>{inner}</Outside>
    case 'mention':
    case 'text_mention':
    case 'hashtag':
    case 'bot_command':
      return <span className="named">{inner}</span>
    default:
      return inner
  }
}

/** A bot may write any address: only those of the web and of the sandbox lead anywhere. */
export function Outside({
  address,
  className,
  children,
}: {
  readonly address: string
  readonly className?: string
  readonly children: ReactNode
}) {
  if (isSandboxLink(address)) {
    return (
      <SandboxLink address={address} className={className}>
        {children}
      </SandboxLink>
    )
  }
  if (!/^https?:\/\//i.test(address)) return <span className={className}>{children}</span>
  return (
    <a href={address} target="_blank" rel="noopener noreferrer" className={className}>
      {children}
    </a>
  )
}

/** What a message carries, whatever its kind. */
import type { Message } from '../../api/sandbox-types.ts'
import { useT } from '../../i18n/language.tsx'
import { Attachment } from './attachment.tsx'
import { Place } from './place.tsx'
import { PollContent } from './poll.tsx'
import { RichText } from './rich-text.tsx'

export interface ContentProps {
  readonly message: Message
  vote(options: readonly number[]): void
}

export function Content({ message, vote }: ContentProps) {
  const t = useT()
  const { text, entities, media, caption, caption_entities } = message
  const { location, venue, contact, poll, dice, service } = message
  if (text !== undefined) return <RichText text={text} entities={entities} />
  if (service !== undefined) return <em>{t.word('messenger.service', service)}</em>
  if (media) {
    return (
      <>
        <Attachment media={media} />
        {caption && <RichText text={caption} entities={caption_entities} />}
      </>
    )
  }
  if (poll) return <PollContent poll={poll} vote={vote} />
  if (dice) return <span className="dice">{`${dice.emoji} ${dice.value}`}</span>
  if (contact) return <span dir="auto">{`${contact.first_name} · ${contact.phone_number}`}</span>
  if (location) return <Place location={location} venue={venue} />
  return <em className="quiet">{t('messenger.unsupported')}</em>
}

/** One line of it, for lists and quotations. */
export function useSummary(): (message: Message) => string {
  const t = useT()
  return ({ text, caption, media, service, poll, dice, contact, location, venue }) => {
    if (text !== undefined) return text
    if (media) return caption || t.word('messenger.kind', media.type)
    if (service !== undefined) return t.word('messenger.service', service)
    if (poll) return poll.question
    if (dice) return dice.emoji
    if (contact) return contact.first_name
    if (venue) return venue.title
    return location ? t('messenger.place') : t('messenger.unsupported')
  }
}

/** How people and chats are called and shown: names, faces and the mark of those that were verified. */
import type { Chat, Media, Person, PersonName } from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { CustomEmoji, ProfilePhoto } from './attachment.tsx'

export const personName = ({ first_name, last_name }: PersonName): string =>
  [first_name, last_name].filter(Boolean).join(' ')

/** The username and the phone by which they are found and linked. */
export const handlesOf = ({ username, phone }: Person): string =>
  username ? `@${username} · ${phone}` : phone

/** The direct messages of a channel are named after the channel and the person who writes to it. */
export const chatName = ({ title, first_name, last_name, direct_with, id }: Chat): string =>
  [title, direct_with && personName(direct_with)].filter(Boolean).join(' · ') ||
  [first_name, last_name].filter(Boolean).join(' ') ||
  `${id}`

interface FaceProps {
  readonly name: string
  /** The kind of the chat. */
  readonly type: string
  readonly photo: Media | undefined
}

/** The photo, or the first letter of the name. The name itself stands beside it. */
export const Face = ({ name, type, photo }: FaceProps) => (
  <span className={`face ${type}`} aria-hidden="true">
    {photo ? <ProfilePhoto media={photo} /> : [...name][0]}
  </span>
)

/** The mark of a person or chat that an account has verified. */
export function Verified({ verification }: Partial<Pick<Person, 'verification'>>) {
  const t = useT()
  if (!verification) return null
  const words = t('profile.verified', { words: verification.description })
  return (
    <span className="verified" title={words}>
      <span aria-hidden="true">✓</span>
      <span className="unseen">{words}</span>
    </span>
  )
}

type Status = Pick<Person, 'is_premium' | 'emoji_status_custom_emoji_id'>

/** Beside the name of a person: that they have Premium, and the emoji that they have chosen. */
export function StatusMarks({ is_premium, emoji_status_custom_emoji_id: emoji }: Status) {
  const t = useT()
  return (
    <>
      {is_premium && (
        <span className="verified" title={t('profile.premium')}>
          <span aria-hidden="true">★</span>
          <span className="unseen">{t('profile.premium')}</span>
        </span>
      )}
      {emoji !== undefined && (
        <span className="verified" title={t('profile.status')}>
          <span className="unseen">{t('profile.status')}</span>
          <CustomEmoji id={emoji}>☺</CustomEmoji>
        </span>
      )}
    </>
  )
}

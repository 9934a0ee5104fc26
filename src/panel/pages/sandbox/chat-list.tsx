/** The chats of a person, with the latest words of each. */
import type { Inbox } from '../../api/sandbox-types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Copied } from '../../ui/copy.tsx'
import { useSummary } from './content.tsx'
import type { Conversation } from './conversations.ts'
import { chatName } from './names.ts'

export interface ChatListProps {
  readonly conversations: readonly Conversation[]
  readonly codes: Inbox['codes']
  readonly open: number | undefined
  onOpen(chat: number): void
}

export function ChatList({ conversations, codes, open, onOpen }: ChatListProps) {
  const t = useT()
  const { hour } = useFormats()
  const summary = useSummary()
  return (
    <nav className="scroll" aria-label={t('messenger.chats')}>
      {codes.slice(0, 1).map(({ code }) => (
        <div key={code} className="code-note stack tight">
          <span className="small">{t('messenger.code')}</span>
          <Copied text={code} />
        </div>
      ))}
      <ul className="chats">
        {conversations.map(({ chat, last }) => (
          <li key={chat.id}>
            <button
              type="button"
              className="record"
              aria-current={chat.id === open ? 'true' : undefined}
              onClick={() => onOpen(chat.id)}
            >
              <span className={`face ${chat.type}`} aria-hidden="true">
                {[...chatName(chat)][0]}
              </span>
              <span className="grow">
                <span className="label clip block" dir="auto">
                  {chatName(chat)}
                </span>
                <span className="quiet small clip block" dir="auto">
                  {last ? summary(last) : t.word('messenger.type', chat.type)}
                </span>
              </span>
              {last && <span className="quiet tiny">{hour(last.date * 1000)}</span>}
            </button>
          </li>
        ))}
      </ul>
    </nav>
  )
}

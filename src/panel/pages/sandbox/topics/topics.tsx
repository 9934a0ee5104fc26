/** The topics of a forum: which one is read, and how topics begin, change, close and go. */
import { Menu } from '@base-ui/react/menu'
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  type Chat,
  groupsQuery,
  type Message,
  type Topic,
  topicsOf,
  topicsQuery,
} from '../../../api/sandbox.ts'
import { useT } from '../../../i18n/language.tsx'
import { Button } from '../../../ui/button.tsx'
import { Confirm } from '../../../ui/dialog.tsx'
import { useReason } from '../../../ui/states.tsx'
import { useToast } from '../../../ui/toasts.tsx'
import { useInAddress } from '../../../ui/use-in-address.ts'
import { useActing } from '../acting.ts'
import { TopicDialog, TopicIcon } from './topic-dialog.tsx'

/** In the address: the messages that stand in no other topic. */
const GENERAL = 'general'

interface Reading {
  readonly topics: readonly Topic[]
  /** Empty: all of them at once. */
  readonly chosen: string
  /** The topic that is read; undefined for all messages and for the general topic. */
  readonly topic: Topic | undefined
  choose(topic: string): void
  holds(message: Pick<Message, 'message_thread_id'>): boolean
  /** The topic of a message where the messages of several topics are shown. */
  named(message: Message): string | undefined
}

const isAboutTopics = ({ service = '' }: Message) => /^(general_)?topic_/.test(service)

/** Undefined where the chat is no forum. */
export function useTopics(chat: Chat, messages: readonly Message[]): Reading | undefined {
  const [wanted, choose] = useInAddress('topic')
  const newest = messages.findLast(isAboutTopics)?.message_id ?? 0
  const { data: topics = [], isPending } = useQuery({
    ...topicsQuery(chat.id, newest),
    enabled: chat.is_forum === true,
    placeholderData: keepPreviousData,
  })
  if (!chat.is_forum) return undefined
  const topic = topics.find(({ message_thread_id }) => `${message_thread_id}` === wanted)
  // Until the topics are known, the address is believed.
  const chosen = topic || wanted === GENERAL || isPending ? wanted : ''
  const thread = Number(chosen) || undefined
  return {
    topics,
    chosen,
    topic,
    choose,
    holds: ({ message_thread_id }) => chosen === '' || message_thread_id === thread,
    named: (message) =>
      chosen === ''
        ? topics.find((one) => one.message_thread_id === message.message_thread_id)?.name
        : undefined,
  }
}

interface TopicBarProps {
  readonly chat: Chat
  readonly reading: Reading
}

export function TopicBar({ chat, reading }: TopicBarProps) {
  const t = useT()
  const { topics, chosen, topic, choose } = reading
  const groups = useQuery(groupsQuery)
  const general = groups.data?.items.find(({ id }) => id === chat.id)?.general_topic
  const [isMaking, setMaking] = useState(false)
  return (
    <div className="topics" role="group" aria-label={t('topics.title')}>
      <Tab isChosen={chosen === ''} onChoose={() => choose('')}>
        {t('topics.all')}
      </Tab>
      <Tab isChosen={chosen === GENERAL} onChoose={() => choose(GENERAL)}>
        <bdi>{general?.name ?? t('topics.general')}</bdi>
        {general?.is_closed && <Closed />}
      </Tab>
      {topics.map((one) => (
        <Tab
          key={one.message_thread_id}
          isChosen={one === topic}
          onChoose={() => choose(`${one.message_thread_id}`)}
        >
          <TopicIcon topic={one} />
          <bdi>{one.name}</bdi>
          {one.is_closed && <Closed />}
        </Tab>
      ))}
      <Button
        size="slim"
        kind="bare"
        icon="plus"
        aria-label={t('topics.new')}
        onClick={() => setMaking(true)}
      />
      {topic && <TopicMenu key={topic.message_thread_id} chat={chat} topic={topic} />}
      {chosen === GENERAL && general && <GeneralMenu chat={chat} general={general} />}
      {isMaking && <NewTopic chat={chat} choose={choose} onClose={() => setMaking(false)} />}
    </div>
  )
}

interface TabProps {
  readonly isChosen: boolean
  readonly children: ReactNode
  onChoose(): void
}

const Tab = ({ isChosen, children, onChoose }: TabProps) => (
  <button type="button" className="button slim" aria-pressed={isChosen} onClick={onChoose}>
    {children}
  </button>
)

function Closed() {
  const t = useT()
  return <span className="quiet tiny">{t('topics.closed')}</span>
}

/** Changes of a topic, and a new look at the topics after each. */
function useTopicChange(chat: Chat) {
  const { person } = useActing()
  const toast = useToast()
  const reason = useReason()
  const queries = useQueryClient()
  const changing = useMutation({
    mutationFn: (change: () => Promise<unknown>) => change(),
    onError: (cause) => toast(reason(cause), 'bad'),
    onSettled: () =>
      Promise.all([
        queries.invalidateQueries({ queryKey: topicsQuery(chat.id, 0).queryKey.slice(0, -1) }),
        queries.invalidateQueries(groupsQuery),
      ]),
  })
  return { api: topicsOf(person.id, chat.id), changing }
}

interface NewTopicProps {
  readonly chat: Chat
  choose(topic: string): void
  onClose(): void
}

function NewTopic({ chat, choose, onClose }: NewTopicProps) {
  const t = useT()
  const { api, changing } = useTopicChange(chat)
  return (
    <TopicDialog
      title={t('topics.new')}
      save={async (look) => {
        let begun: Topic | undefined
        await changing.mutateAsync(async () => {
          begun = await api.begin(look)
        })
        if (begun) choose(`${begun.message_thread_id}`)
      }}
      onClose={onClose}
    />
  )
}

interface TopicMenuProps {
  readonly chat: Chat
  readonly topic: Topic
}

function TopicMenu({ chat, topic }: TopicMenuProps) {
  const t = useT()
  const { api, changing } = useTopicChange(chat)
  const [opened, setOpened] = useState<'edit' | 'delete'>()
  const close = () => setOpened(undefined)
  const { message_thread_id: id, name, is_closed } = topic
  return (
    <>
      <Actions name={name}>
        <Menu.Item onClick={() => setOpened('edit')}>{t('messenger.edit')}</Menu.Item>
        <Menu.Item onClick={() => changing.mutate(() => api.change(id, { is_closed: !is_closed }))}>
          {t(is_closed ? 'topics.reopen' : 'topics.close')}
        </Menu.Item>
        <Menu.Item onClick={() => setOpened('delete')}>{t('topics.delete')}</Menu.Item>
      </Actions>
      {opened === 'edit' && (
        <TopicDialog
          title={t('topics.edit')}
          topic={topic}
          save={(look) => changing.mutateAsync(() => api.change(id, look))}
          onClose={close}
        />
      )}
      <Confirm
        title={t('topics.deleteTitle', { name })}
        action={t('topics.delete')}
        open={opened === 'delete'}
        busy={changing.isPending}
        onConfirm={() => changing.mutate(() => api.remove(id), { onSuccess: close })}
        onClose={close}
      >
        {t('topics.deleteText')}
      </Confirm>
    </>
  )
}

interface GeneralMenuProps {
  readonly chat: Chat
  readonly general: {
    readonly name: string
    readonly is_closed: boolean
    readonly is_hidden: boolean
  }
}

function GeneralMenu({ chat, general }: GeneralMenuProps) {
  const t = useT()
  const { api, changing } = useTopicChange(chat)
  const [isRenaming, setRenaming] = useState(false)
  const { name, is_closed, is_hidden } = general
  const change = (does: 'close' | 'reopen' | 'hide' | 'unhide') => () =>
    changing.mutate(() => api.changeGeneral({ do: does }))
  return (
    <>
      <Actions name={name}>
        <Menu.Item onClick={() => setRenaming(true)}>{t('messenger.edit')}</Menu.Item>
        <Menu.Item onClick={change(is_closed ? 'reopen' : 'close')}>
          {t(is_closed ? 'topics.reopen' : 'topics.close')}
        </Menu.Item>
        <Menu.Item onClick={change(is_hidden ? 'unhide' : 'hide')}>
          {t(is_hidden ? 'topics.unhide' : 'topics.hide')}
        </Menu.Item>
      </Actions>
      {isRenaming && (
        <TopicDialog
          title={t('topics.edit')}
          general={name}
          save={(look) =>
            changing.mutateAsync(() => api.changeGeneral({ do: 'rename', name: look.name ?? name }))
          }
          onClose={() => setRenaming(false)}
        />
      )}
    </>
  )
}

interface ActionsProps {
  readonly name: string
  readonly children: ReactNode
}

function Actions({ name, children }: ActionsProps) {
  const t = useT()
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger
        render={<Button kind="bare" size="slim" icon="more" />}
        aria-label={t('topics.actions', { name })}
      />
      <Menu.Portal>
        <Menu.Positioner sideOffset={4} className="over">
          <Menu.Popup className="menu">{children}</Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  )
}

/** Inline mode: what a bot offers for the text that was typed after its name, to be picked and sent. */
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import {
  type InlineAnswer,
  type InlineResult,
  type Person,
  peopleQuery,
} from '../../api/sandbox.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'
import { Wrong } from '../../ui/states.tsx'
import { useActing } from './acting.ts'
import { isPicture, Picture } from './attachment.tsx'
import { useSummary } from './content.tsx'
import { personName } from './names.tsx'
import { WebAppDialog } from './web-app.tsx'

interface InlineText {
  readonly bot: Person
  readonly query: string
}

const TEXT = /^@([a-z]\w{3,31})\s([\s\S]*)$/i

/** The linked account that is named first in the text, and what is asked of it; undefined where none is. */
export function useInlineText(text: string): InlineText | undefined {
  const people = useQuery(peopleQuery)
  const [, name, query = ''] = TEXT.exec(text) ?? []
  const bot =
    name &&
    people.data?.items.find(
      ({ username, linked_sessions }) =>
        linked_sessions > 0 && username?.toLowerCase() === name.toLowerCase(),
    )
  return bot ? { bot, query: query.slice(0, 256) } : undefined
}

const TYPING_MS = 300

/** The value once it has not changed for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), TYPING_MS)
    return () => clearTimeout(timer)
  }, [value])
  return settled
}

interface InlineResultsProps extends InlineText {
  readonly chat: number
  onPicked(): void
}

export function InlineResults({ bot, query, chat, onPicked }: InlineResultsProps) {
  const t = useT()
  const { api } = useActing()
  const settled = useSettled(query)
  const asking = useInfiniteQuery({
    queryKey: ['sandbox', 'inline', api, bot.id, chat, settled],
    queryFn: ({ pageParam: offset, signal }) =>
      api.askInline({ bot: bot.id, chat, query: settled, offset }, signal),
    initialPageParam: '',
    getNextPageParam: (last: InlineAnswer) => last.next_offset || undefined,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  })
  const picking = useMutation({
    mutationFn: ({ from, result }: { readonly from: string; readonly result: string }) =>
      api.pickInline(from, result),
    onSuccess: onPicked,
  })
  const pages = asking.data?.pages ?? []
  const isEmpty = pages.every(({ results }) => results.length === 0)
  return (
    <div
      className="inline-results"
      role="group"
      aria-label={t('inline.results', { name: personName(bot) })}
    >
      {pages[0]?.button && (
        <AboveResults button={pages[0].button} bot={bot} chat={chat} onLeft={onPicked} />
      )}
      <ul className="records pick">
        {pages.flatMap(({ inline_query_id: from, results }) =>
          results.map((result) => (
            <li key={`${from} ${result.id}`}>
              <button
                type="button"
                className="record"
                disabled={picking.isPending}
                onClick={() => picking.mutate({ from, result: result.id })}
              >
                <Result result={result} />
              </button>
            </li>
          )),
        )}
      </ul>
      {asking.hasNextPage && (
        <Button size="slim" busy={asking.isFetchingNextPage} onClick={() => asking.fetchNextPage()}>
          {t('inline.more')}
        </Button>
      )}
      <p className="quiet small" role="status">
        {asking.isPending && t('loading')}
        {asking.data && isEmpty && t(pages[0]?.answered ? 'inline.nothing' : 'inline.unanswered')}
      </p>
      <Wrong cause={asking.error ?? picking.error} />
    </div>
  )
}

function Result({ result }: { readonly result: InlineResult }) {
  const t = useT()
  const summary = useSummary()
  const { title, description, media, type } = result
  return (
    <>
      {media && isPicture(media) && <Picture media={media} />}
      <span className="grow">
        <span className="label clip block" dir="auto">
          {title ?? (media || result.media_url ? t.word('inline.type', type) : summary(result))}
        </span>
        {description && (
          <span className="quiet small clip block" dir="auto">
            {description}
          </span>
        )}
      </span>
    </>
  )
}

interface AboveResultsProps {
  readonly button: NonNullable<InlineAnswer['button']>
  readonly bot: Person
  readonly chat: number
  /** Inline mode was left for what the button leads to. */
  onLeft(): void
}

/** The button above the results: it leads to the private chat with the bot, or opens a web app. */
function AboveResults({ button, bot, chat, onLeft }: AboveResultsProps) {
  const { api, open } = useActing()
  const [isOpen, setOpen] = useState(false)
  const { text, web_app, start_parameter } = button
  const starting = useMutation({
    mutationFn: () => api.write({ to: bot.id, text: `/start ${start_parameter}` }),
    onSuccess() {
      onLeft()
      open(bot.id)
    },
  })
  return (
    <>
      <Button
        size="slim"
        busy={starting.isPending}
        onClick={() => (web_app ? setOpen(true) : starting.mutate())}
      >
        <bdi>{text}</bdi>
      </Button>
      <Wrong cause={starting.error} />
      {isOpen && web_app && (
        <WebAppDialog bot={bot} chat={chat} url={web_app.url} onClose={() => setOpen(false)} />
      )}
    </>
  )
}

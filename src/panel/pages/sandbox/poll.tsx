/** A poll to vote in. */
import { useState } from 'react'
import type { Poll } from '../../api/sandbox-types.ts'
import { useFormats } from '../../i18n/formats.ts'
import { useT } from '../../i18n/language.tsx'
import { Button } from '../../ui/button.tsx'

export interface PollProps {
  readonly poll: Poll
  vote(options: readonly number[]): void
}

export function PollContent({ poll, vote }: PollProps) {
  const t = useT()
  const { number, share } = useFormats()
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set())
  const choose = (place: number) => {
    if (!poll.allows_multiple_answers) return vote([place])
    const next = new Set(chosen)
    if (!next.delete(place)) next.add(place)
    setChosen(next)
  }
  return (
    <div className="stack tight poll">
      <strong dir="auto">{poll.question}</strong>
      {poll.options.map(({ text, voter_count }, place) => (
        <Button
          key={text}
          size="slim"
          disabled={poll.is_closed}
          {...(poll.allows_multiple_answers && { 'aria-pressed': chosen.has(place) })}
          onClick={() => choose(place)}
        >
          <span className="grow">{text}</span>
          <span className="quiet number">
            {number(voter_count)} · {share(voter_count, poll.total_voter_count)}
          </span>
        </Button>
      ))}
      {poll.allows_multiple_answers && !poll.is_closed && (
        <Button kind="first" size="slim" onClick={() => vote([...chosen])}>
          {t('messenger.vote')}
        </Button>
      )}
      <span className="quiet tiny">
        {poll.is_closed
          ? t('messenger.pollOver')
          : t.count('messenger.votes', poll.total_voter_count)}
      </span>
    </div>
  )
}

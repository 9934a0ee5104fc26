/** Polls of the reference. */
import type { Poll } from '../../../../machines/model/content.ts'
import { array, fields, integer, maybe, number, present, text } from './fields.ts'
import { textOf } from './text.ts'

export function pollOf(value: unknown): Poll {
  const poll = fields(value)
  const single = number(poll.correct_option_id)
  return present({
    id: text(poll.id),
    question: textOf(poll, 'question', 'question_entities'),
    options: array(poll.options, (value) => {
      const option = fields(value)
      return {
        text: textOf(option, 'text', 'text_entities'),
        voters: number(option.voter_count) ?? 0,
      }
    }),
    voters: number(poll.total_voter_count) ?? 0,
    isClosed: poll.is_closed === true,
    isAnonymous: poll.is_anonymous === true,
    isQuiz: poll.type === 'quiz',
    isMultiple: poll.allows_multiple_answers === true,
    right:
      maybe(poll.correct_option_ids, (places) => array(places, integer)) ??
      (single === undefined ? undefined : [single]),
    explanation: maybe(poll.explanation, () => textOf(poll, 'explanation', 'explanation_entities')),
    openSeconds: number(poll.open_period),
    closesAt: number(poll.close_date),
  })
}

/** Polls and checklists in the network's terms. */
import { Long, type tl } from '@mtcute/node'
import type { Checklist } from '../../../../machines/model/checklist.ts'
import type { Poll } from '../../../../machines/model/poll.ts'
import type { Text } from '../../../../machines/model/text.ts'
import { plainEntitiesOf } from '../entities.ts'

export function inputPollOf(poll: Poll): tl.RawInputMediaPoll {
  const { right, explanation, openSeconds, closesAt } = poll
  return {
    _: 'inputMediaPoll',
    poll: {
      _: 'poll',
      id: Long.fromString(poll.id ?? '0'),
      hash: Long.ZERO,
      question: formatted(poll.question),
      answers: poll.options.map(({ text }, place) => ({
        _: 'pollAnswer',
        text: formatted(text),
        option: Uint8Array.of(place),
      })),
      ...(poll.isClosed && { closed: true }),
      ...(!poll.isAnonymous && { publicVoters: true }),
      ...(poll.isQuiz && { quiz: true }),
      ...(poll.isMultiple && { multipleChoice: true }),
      ...(poll.isRevotable === false && { revotingDisabled: true }),
      ...(poll.isOpenToOptions && { openAnswers: true }),
      ...(poll.isShuffled && { shuffleAnswers: true }),
      ...(poll.hidesResults && { hideResultsUntilClose: true }),
      ...(poll.isForMembers && { subscribersOnly: true }),
      ...(poll.countries && { countriesIso2: [...poll.countries] }),
      ...(openSeconds !== undefined && { closePeriod: openSeconds }),
      ...(closesAt !== undefined && { closeDate: closesAt }),
    },
    ...(right && { correctAnswers: [...right] }),
    ...(explanation && {
      solution: explanation.text,
      solutionEntities: plainEntitiesOf(explanation),
    }),
  }
}

export const inputChecklistOf = (checklist: Checklist): tl.RawInputMediaTodo => ({
  _: 'inputMediaTodo',
  todo: {
    _: 'todoList',
    title: formatted(checklist.title),
    list: checklist.tasks.map(({ id, text }) => ({ _: 'todoItem', id, title: formatted(text) })),
    ...(checklist.othersMayAdd && { othersCanAppend: true }),
    ...(checklist.othersMayMark && { othersCanComplete: true }),
  },
})

const formatted = (text: Text): tl.RawTextWithEntities => ({
  _: 'textWithEntities',
  text: text.text,
  entities: plainEntitiesOf(text),
})

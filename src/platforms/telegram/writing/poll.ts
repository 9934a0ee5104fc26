/** Polls and checklists in the network's terms. */
import { Long, type tl } from '@mtcute/node'
import type { Checklist, Poll } from '../../../../machines/model/poll.ts'
import type { Text } from '../../../../machines/model/text.ts'
import { plainEntitiesOf } from '../entities.ts'

/** The media of the parts of a poll. */
export interface PollFiles {
  readonly attached?: tl.TypeInputMedia
  readonly solution?: tl.TypeInputMedia
  /** By the places of the options. */
  readonly options: ReadonlyMap<number, tl.TypeInputMedia>
}

const NO_FILES: PollFiles = { options: new Map() }

export function inputPollOf(poll: Poll, files: PollFiles = NO_FILES): tl.RawInputMediaPoll {
  const { right, explanation, openSeconds, closesAt } = poll
  return {
    _: 'inputMediaPoll',
    poll: {
      _: 'poll',
      id: Long.fromString(poll.id ?? '0'),
      hash: Long.ZERO,
      question: formatted(poll.question),
      answers: answersOf(poll, files.options),
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
    ...(files.attached && { attachedMedia: files.attached }),
    ...(files.solution && { solutionMedia: files.solution }),
    ...(explanation && {
      solution: explanation.text,
      solutionEntities: plainEntitiesOf(explanation),
    }),
  }
}

/** Where options have media, the network itself names the options. */
function answersOf({ options }: Poll, files: PollFiles['options']): tl.TypePollAnswer[] {
  if (files.size === 0) {
    return options.map(({ text }, place) => ({
      _: 'pollAnswer',
      text: formatted(text),
      option: Uint8Array.of(place),
    }))
  }
  return options.map(({ text }, place) => {
    const media = files.get(place)
    return { _: 'inputPollAnswer', text: formatted(text), ...(media && { media }) }
  })
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

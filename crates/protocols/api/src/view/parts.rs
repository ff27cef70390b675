//! Access to the content parts of a view, wherever they are in it.

use super::content::PartView;
use super::event::{EventView, FinishedView, NumberedEvent, StepEventView};
use super::question::QuestionView;
use super::task::{ExchangeView, TaskView};

/// A view that tells content.
pub trait Tells {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView));
}

impl Tells for FinishedView {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        self.parts.iter_mut().for_each(each);
    }
}

impl Tells for QuestionView {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        self.confirm.iter_mut().flat_map(|confirm| &mut confirm.parts).for_each(each);
    }
}

impl Tells for StepEventView {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        self.parts.iter_mut().for_each(each);
    }
}

impl Tells for EventView {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        match self {
            EventView::Said(said) => said.parts.iter_mut().for_each(each),
            EventView::Artifact(artifact) => artifact.parts.iter_mut().for_each(each),
            EventView::Step(step) => step.each_part(each),
            EventView::Asked(question) => question.each_part(each),
            EventView::Finished(finished) => finished.each_part(each),
            EventView::Started(_) | EventView::Progress(_) | EventView::Settled(_) => {}
        }
    }
}

impl Tells for NumberedEvent {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        self.event.each_part(each);
    }
}

impl Tells for ExchangeView {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        self.questions.iter_mut().for_each(|question| question.each_part(each));
        self.finished.iter_mut().for_each(|finished| finished.each_part(each));
    }
}

impl Tells for TaskView {
    fn each_part(&mut self, each: &mut dyn FnMut(&mut PartView)) {
        self.questions.iter_mut().for_each(|question| question.each_part(each));
        self.steps.iter_mut().for_each(|step| step.each_part(each));
        self.finished.iter_mut().for_each(|finished| finished.each_part(each));
    }
}

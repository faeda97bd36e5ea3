//! A store whose e-tags are those of S3: they depend on the content alone.

use super::{Outcome, Store, in_words};
use async_trait::async_trait;
use futures::stream::BoxStream;
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMode, PutMultipartOptions, PutOptions, PutPayload, PutResult,
    Result,
};
use quorumlock_fencing::FencingToken;
use quorumlock_fencing::object_store::{get, put};
use std::collections::HashMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use tokio::sync::Mutex;

/// One object of any store.
pub(crate) struct OneObject(pub(crate) Arc<dyn ObjectStore>);

pub(crate) fn path() -> Path {
    Path::from("folder/data")
}

impl Store for OneObject {
    const KIND: &'static str = "object_store";

    async fn open(_address: &str) -> Self {
        Self(Arc::new(InMemory::new()))
    }

    async fn read(&self, token: Option<FencingToken>) -> Outcome<String> {
        let content = match token {
            Some(token) => get(&self.0, &path(), token).await.map_err(in_words)?,
            None => self.0.get(&path()).await.unwrap().bytes().await.unwrap(),
        };
        Ok(String::from_utf8(content.to_vec()).unwrap())
    }

    async fn write(&self, token: Option<FencingToken>, content: &str) -> Outcome<()> {
        if let Some(token) = token {
            return put(&self.0, &path(), token, content.as_bytes()).await.map_err(in_words);
        }
        self.0.put(&path(), content.to_owned().into()).await.unwrap();
        Ok(())
    }
}

#[derive(Debug, Default)]
pub(crate) struct TagsOfContent {
    inner: InMemory,
    tags: Mutex<HashMap<Path, String>>,
    /// Reads the object under this token just before the next put arrives.
    pub(crate) before_put: Mutex<Option<FencingToken>>,
    /// Answers the next put as if its reply had been lost, and a retry had met its own write.
    pub(crate) lose_reply: Mutex<bool>,
    pub(crate) refuse_all: Mutex<bool>,
}

impl fmt::Display for TagsOfContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("tags of content")
    }
}

#[async_trait]
impl ObjectStore for TagsOfContent {
    async fn put_opts(
        &self,
        at: &Path,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        let reader = self.before_put.lock().await.take();
        if let Some(reader) = reader {
            get(self, at, reader).await.unwrap();
        }
        let mut hasher = DefaultHasher::new();
        payload.iter().for_each(|bytes| bytes.hash(&mut hasher));
        let tag = hasher.finish().to_string();
        let mut tags = self.tags.lock().await;
        let failed = |path: String| Error::Precondition { path, source: "changed".into() };
        let is_same = match &options.mode {
            PutMode::Overwrite => true,
            PutMode::Create => !tags.contains_key(at),
            PutMode::Update(version) => tags.get(at) == version.e_tag.as_ref(),
        };
        if !is_same || *self.refuse_all.lock().await {
            return Err(failed(at.to_string()));
        }
        tags.insert(at.clone(), tag);
        let options = PutOptions { mode: PutMode::Overwrite, ..options };
        let done = self.inner.put_opts(at, payload, options).await;
        if std::mem::take(&mut *self.lose_reply.lock().await) {
            return Err(failed(at.to_string()));
        }
        done
    }

    async fn get_opts(&self, at: &Path, options: GetOptions) -> Result<GetResult> {
        let tags = self.tags.lock().await;
        let mut found = self.inner.get_opts(at, options).await?;
        found.meta.e_tag = tags.get(at).cloned();
        Ok(found)
    }

    async fn put_multipart_opts(
        &self,
        at: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.inner.put_multipart_opts(at, options).await
    }

    fn delete_stream(
        &self,
        paths: BoxStream<'static, Result<Path>>,
    ) -> BoxStream<'static, Result<Path>> {
        self.inner.delete_stream(paths)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.inner.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.inner.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.inner.copy_opts(from, to, options).await
    }
}
